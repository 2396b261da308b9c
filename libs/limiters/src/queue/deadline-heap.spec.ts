import * as fc from 'fast-check';
import { DeadlineHeap } from './deadline-heap.js';
import { Waiter } from './waiter.js';

class TimedWaiter extends Waiter {
  constructor(deadlineMs: number) {
    super(1, undefined);
    this.waitUntil(deadlineMs);
  }

  override takeTurn(): void {
    // Nobody serves it here.
  }
}

const anyDeadlines = fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 60, size: 'max' });

describe('the heap of deadlines', () => {
  it('gives out the deadlines in order', () => {
    fc.assert(
      fc.property(anyDeadlines, (deadlines) => {
        const heap = new DeadlineHeap();
        for (const deadline of deadlines) heap.add(new TimedWaiter(deadline));
        const given: number[] = [];
        for (let first = heap.first; first !== undefined; first = heap.first) {
          given.push(first.deadlineMs);
          heap.delete(first);
        }
        expect(given).toEqual([...deadlines].sort((a, b) => a - b));
      }),
    );
  });

  it('stays in order when any of them leaves', () => {
    fc.assert(
      fc.property(anyDeadlines, fc.array(fc.nat(), { maxLength: 60 }), (deadlines, picks) => {
        const heap = new DeadlineHeap();
        const waiting = deadlines.map((deadline) => new TimedWaiter(deadline));
        for (const waiter of waiting) heap.add(waiter);
        for (const pick of picks) {
          if (waiting.length === 0) break;
          const [gone] = waiting.splice(pick % waiting.length, 1);
          heap.delete(gone!);
          expect(gone!.bounds?.deadlineIndex).toBe(-1);
          const earliest = waiting.map(({ deadlineMs }) => deadlineMs).sort((a, b) => a - b)[0];
          expect(heap.first?.deadlineMs).toBe(earliest);
        }
      }),
    );
  });

  it('ignores one that is not in it', () => {
    const heap = new DeadlineHeap();
    const waiter = new TimedWaiter(1);
    heap.add(waiter);
    heap.delete(new TimedWaiter(0));
    heap.delete(waiter);
    heap.delete(waiter);
    expect(heap.first).toBeUndefined();
  });
});
