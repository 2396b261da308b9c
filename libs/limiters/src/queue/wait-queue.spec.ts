import { Waiter } from './waiter.js';
import type { WaitingPlace } from './waiter.js';
import { WaitQueue } from './wait-queue.js';

class PlainWaiter extends Waiter {
  constructor(permits: number, deadlineMs = Infinity) {
    super(permits, undefined);
    this.waitUntil(deadlineMs);
  }

  override takeTurn(): void {
    // Nobody serves it here.
  }
}

class ReservingWaiter extends PlainWaiter {
  override get isReserving(): boolean {
    return true;
  }
}

const place: WaitingPlace = {
  resume: () => undefined,
  retryAfterMs: () => undefined,
  countRefusal: () => undefined,
};

function queueOf(isNewestFirst: boolean, ...waiters: Waiter[]): WaitQueue {
  const queue = new WaitQueue(isNewestFirst);
  for (const waiter of waiters) queue.add(waiter, place);
  return queue;
}

function inTurn(queue: WaitQueue): number[] {
  return [...queue.inOrder()].map(({ permits }) => permits);
}

describe('the wait queue', () => {
  it('serves the oldest first, or the newest', () => {
    const make = (): Waiter[] => [1, 2, 3].map((permits) => new PlainWaiter(permits));
    expect(inTurn(queueOf(false, ...make()))).toEqual([1, 2, 3]);
    expect(inTurn(queueOf(true, ...make()))).toEqual([3, 2, 1]);
    expect(queueOf(false, ...make()).inTurn?.permits).toBe(1);
    expect(queueOf(true, ...make()).inTurn?.permits).toBe(3);
  });

  it('knows the oldest in either order', () => {
    expect(queueOf(true, new PlainWaiter(1), new PlainWaiter(2)).oldest?.permits).toBe(1);
  });

  it.each([
    ['the first', 0, [2, 3]],
    ['one in the middle', 1, [1, 3]],
    ['the last', 2, [1, 2]],
  ])('lets %s leave', (_which, index, left) => {
    const waiters = [1, 2, 3].map((permits) => new PlainWaiter(permits));
    const queue = queueOf(false, ...waiters);
    queue.delete(waiters[index]!);
    expect(inTurn(queue)).toEqual(left);
    queue.add(new PlainWaiter(9), place);
    expect(inTurn(queue)).toEqual([...left, 9]);
  });

  it('is empty again when all have left, and nothing of them stays', () => {
    const waiters = [1, 0, 3].map((permits) => new PlainWaiter(permits, permits));
    const queue = queueOf(false, ...waiters);
    expect([queue.permits, queue.count, queue.withPermits]).toEqual([4, 3, 2]);
    for (const waiter of waiters) queue.delete(waiter);
    expect([queue.permits, queue.count, queue.withPermits]).toEqual([0, 0, 0]);
    expect(queue.inTurn).toBeNull();
    expect(queue.oldest).toBeNull();
    expect(queue.firstDeadlineMs).toBe(Infinity);
    for (const { segment, queue: home, place: at } of waiters) {
      expect([segment, home, at]).toEqual([null, null, null]);
    }
  });

  it('puts those that reserve before all others, in the order they came', () => {
    const queue = queueOf(
      true,
      new PlainWaiter(1),
      new ReservingWaiter(2),
      new PlainWaiter(3),
      new ReservingWaiter(4),
    );
    expect(inTurn(queue)).toEqual([2, 4, 3, 1]);
    expect(queue.hasReserving).toBe(true);
    expect(queue.oldest?.permits).toBe(1);
    const visited: number[] = [];
    queue.forEachInTurn((permits) => visited.push(permits));
    expect(visited).toEqual([2, 4, 3, 1]);
  });

  it('goes on in order when waiters leave while it is walked', () => {
    const waiters = [1, 2, 3, 4].map((permits) => new PlainWaiter(permits));
    const queue = queueOf(false, ...waiters);
    const seen: number[] = [];
    for (const waiter of queue.inOrder()) {
      seen.push(waiter.permits);
      queue.delete(waiter);
      if (waiter.permits === 1) queue.delete(waiters[1]!);
    }
    expect(seen).toEqual([1, 3, 4]);
  });

  it('finds the one whose time is over first', () => {
    const waiters = [30, 10, 20].map((deadline) => new PlainWaiter(1, deadline));
    const queue = queueOf(false, ...waiters);
    expect(queue.firstDeadlineMs).toBe(10);
    expect(queue.overdue(9)).toBeUndefined();
    expect(queue.overdue(10)).toBe(waiters[1]);
    queue.delete(waiters[1]!);
    expect(queue.firstDeadlineMs).toBe(20);
  });

  it('knows what is asked for in all when one needs fewer permits than before, or none', () => {
    const waiters = [3, 0, 2].map((permits) => new PlainWaiter(permits));
    const queue = queueOf(false, ...waiters);
    queue.lower(waiters[0]!, 1);
    expect([queue.permits, queue.withPermits, inTurn(queue)]).toEqual([3, 2, [1, 0, 2]]);
    queue.lower(waiters[0]!, 0);
    expect([queue.permits, queue.withPermits]).toEqual([2, 1]);
    queue.lower(waiters[1]!, 0);
    expect([queue.permits, queue.withPermits, inTurn(queue)]).toEqual([2, 1, [0, 0, 2]]);
    for (const waiter of waiters) queue.delete(waiter);
    expect([queue.permits, queue.withPermits]).toEqual([0, 0]);
  });

  it('lets one of 50,000 leave as fast as one of a few', () => {
    const waiters = Array.from({ length: 50_000 }, () => new PlainWaiter(1));
    const queue = queueOf(false, ...waiters);
    // A walk for each would visit more than a thousand million waiters here.
    for (let index = waiters.length - 1; index >= 0; index -= 2) queue.delete(waiters[index]!);
    for (let index = 0; index < waiters.length; index += 2) queue.delete(waiters[index]!);
    expect(queue.count).toBe(0);
  });
});

describe('a wait queue that keeps its waiters in stretches', () => {
  it('begins anew where a full stretch was the only one and all of it have left', () => {
    const waiters = Array.from({ length: 128 }, () => new PlainWaiter(1));
    const queue = queueOf(false, ...waiters);
    for (const waiter of waiters) queue.delete(waiter);
    const [next, last] = [new PlainWaiter(1), new PlainWaiter(1)];
    queue.add(next, place);
    queue.add(last, place);
    expect([queue.inTurn, queue.oldest, [...queue.inOrder()]]).toEqual([next, next, [next, last]]);
  });
});
