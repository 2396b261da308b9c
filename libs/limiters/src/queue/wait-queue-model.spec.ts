import * as fc from 'fast-check';
import { Waiter } from './waiter.js';
import type { WaitingPlace } from './waiter.js';
import { WaitQueue } from './wait-queue.js';

class AnyWaiter extends Waiter {
  readonly #isReserving: boolean;

  constructor(permits: number, deadlineMs: number, isReserving: boolean) {
    super(permits, undefined);
    this.#isReserving = isReserving;
    this.waitUntil(deadlineMs);
  }

  override get isReserving(): boolean {
    return this.#isReserving;
  }

  override takeTurn(): void {
    // Nobody serves it here.
  }
}

const place: WaitingPlace = {
  resume: () => undefined,
  retryAfterMs: () => undefined,
  countRefusal: () => undefined,
};

type Step =
  | {
      readonly do: 'come';
      readonly count: number;
      readonly permits: number;
      readonly deadlineMs: number;
      readonly isReserving: boolean;
    }
  | { readonly do: 'leave'; readonly count: number; readonly from: 'oldest' | 'newest' | 'turn' | number }
  | { readonly do: 'reverse' };

/** Waiters stand in stretches of 128: so many come and go at once that these fill up and empty. */
const anyCount = fc.oneof(
  fc.integer({ min: 1, max: 3 }),
  fc.constant(128),
  fc.integer({ min: 100, max: 200 }),
);
const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('come' as const),
        count: anyCount,
        permits: fc.nat({ max: 3 }),
        deadlineMs: fc.oneof(fc.constant(Infinity), fc.nat({ max: 9 })),
        isReserving: fc.integer({ min: 0, max: 5 }).map((dice) => dice === 0),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('leave' as const),
        count: anyCount,
        from: fc.oneof(fc.constantFrom('oldest' as const, 'newest' as const, 'turn' as const), fc.nat()),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('reverse' as const) }) },
  ),
  { minLength: 5, maxLength: 25, size: 'max' },
);

/** The queue beside a list of those who wait, in the order in which they came. */
class Trial {
  readonly queue = new WaitQueue(false);
  readonly #waiting: AnyWaiter[] = [];

  run(step: Step): void {
    if (step.do === 'reverse') this.queue.isNewestFirst = !this.queue.isNewestFirst;
    else if (step.do === 'come') {
      for (let index = 0; index < step.count; index++) {
        const waiter = new AnyWaiter(step.permits, step.deadlineMs, step.isReserving);
        this.queue.add(waiter, place);
        this.#waiting.push(waiter);
      }
    } else {
      for (let index = 0; index < step.count && this.#waiting.length > 0; index++) {
        const leaving = this.#leaving(step.from);
        this.queue.delete(leaving);
        this.#waiting.splice(this.#waiting.indexOf(leaving), 1);
        expect([leaving.place, leaving.queue]).toEqual([null, null]);
      }
    }
  }

  look(): void {
    const { queue } = this;
    const inOrder = this.#inOrder();
    const plain = this.#waiting.filter(({ isReserving }) => !isReserving);
    expect(queue.inTurn === (inOrder[0] ?? null)).toBe(true);
    expect(queue.oldest === (plain[0] ?? null)).toBe(true);
    const permits = inOrder.map((waiter) => waiter.permits);
    const deadlines = inOrder.map(({ deadlineMs }) => deadlineMs);
    const reserving = inOrder.filter(({ isReserving }) => isReserving);
    expect({
      count: queue.count,
      permits: queue.permits,
      withPermits: queue.withPermits,
      firstDeadlineMs: queue.firstDeadlineMs,
      hasReserving: queue.hasReserving,
      reservingPermits: queue.reservingPermits,
      isOverdue: queue.overdue(4) !== undefined,
    }).toEqual({
      count: inOrder.length,
      permits: sum(permits),
      withPermits: permits.filter((asked) => asked > 0).length,
      firstDeadlineMs: Math.min(Infinity, ...deadlines),
      hasReserving: reserving.length > 0,
      reservingPermits: sum(reserving.map((waiter) => waiter.permits)),
      isOverdue: deadlines.some((deadlineMs) => deadlineMs <= 4),
    });
    const visited: number[] = [];
    queue.forEachInTurn((asked) => visited.push(asked));
    expect(visited).toEqual(permits);
    const walked = [...queue.inOrder()];
    expect(walked.length === inOrder.length && walked.every((one, index) => one === inOrder[index])).toBe(
      true,
    );
    expect(walked.every((one) => one.queue === queue && one.place === place)).toBe(true);
  }

  #inOrder(): AnyWaiter[] {
    const plain = this.#waiting.filter(({ isReserving }) => !isReserving);
    if (this.queue.isNewestFirst) plain.reverse();
    return [...this.#waiting.filter(({ isReserving }) => isReserving), ...plain];
  }

  #leaving(from: 'oldest' | 'newest' | 'turn' | number): AnyWaiter {
    if (from === 'oldest') return this.#waiting[0]!;
    if (from === 'newest') return this.#waiting.at(-1)!;
    if (from === 'turn') return this.#inOrder()[0]!;
    return this.#waiting[from % this.#waiting.length]!;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

describe('the wait queue, whoever comes and leaves', () => {
  it('is as a list of those who wait', () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const trial = new Trial();
        for (const step of steps) {
          trial.run(step);
          trial.look();
        }
      }),
      { numRuns: 40 },
    );
  });
});
