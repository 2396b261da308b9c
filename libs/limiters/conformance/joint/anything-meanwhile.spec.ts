import * as fc from 'fast-check';
import type { AsyncPartitionedRateLimiter, RateLimiter, RateLimitLease } from '../../src/index.js';
import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  ObjectDisposedError,
  RateLimitPartition,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';
import { partitionedAlways } from './remote-limiters.js';
import { chainOf, SlotsElsewhere, soon } from './slots-elsewhere.js';

type Member = AsyncPartitionedRateLimiter<string>;

const PERMITS = 2;
const ROOM = 30;
const WINDOW_MS = 40;
const IDLE_TIMEOUT_MS = 10;
const LEFT = new Error('left');
const NAMES = ['a', 'b', 'slots', 'window', 'bucket', 'sliding', 'slots in rows', 'windows in rows'] as const;
type Name = (typeof NAMES)[number];

/** Everything that can happen; a request is named by its place, counted round. */
const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      names: fc.shuffledSubarray([...NAMES], { minLength: 1, maxLength: 4 }),
      permits: fc.nat(PERMITS),
      /** Those from there on are a chain within the chain, where that leaves some before it. */
      within: fc.nat(3),
      maxWaitMs: fc.constantFrom(Infinity, Infinity, 50, 0),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('give back' as const), at: fc.nat(ROOM) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), at: fc.nat(ROOM) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end the chain' as const), at: fc.nat(ROOM) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 80 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('turn' as const), turns: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      permitLimit: fc.integer({ min: PERMITS, max: 2 * PERMITS }),
      queueLimit: fc.nat(ROOM),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('lose' as const),
      name: fc.constantFrom('a' as const, 'b' as const),
    }),
  },
);
type Step = typeof anyStep extends fc.Arbitrary<infer Of> ? Of : never;
type Asking = Extract<Step, { do: 'ask' }>;

/** A request, and what has come of it. */
class Request {
  readonly end: Promise<void>;
  isOver = false;
  #lease: RateLimitLease | undefined;
  readonly #chain: Member;
  readonly #leaving = new AbortController();

  constructor(chain: Member, { permits, maxWaitMs }: Asking) {
    this.#chain = chain;
    const asked = chain.acquire('k', permits, { signal: this.#leaving.signal, maxWaitMs });
    this.end = asked.then(
      (lease) => void (this.#lease = lease.isAcquired ? lease : undefined),
      (error: Error) => expect([LEFT.name, ObjectDisposedError.name]).toContain(error.name),
    );
    void this.end.finally(() => (this.isOver = true));
  }

  giveBack(): void {
    this.#lease?.dispose();
    this.#lease = undefined;
  }

  leave(): void {
    this.#leaving.abort(LEFT);
  }

  async endChain(): Promise<void> {
    await this.#chain.dispose();
  }
}

/** Limiters in this process and elsewhere, alone and in rows, and requests for chains of them. */
class World {
  readonly #clock = new FakeClock();
  readonly #elsewhere = {
    a: new SlotsElsewhere('a', { permitLimit: PERMITS }),
    b: new SlotsElsewhere('b', { permitLimit: PERMITS, queueLimit: 3 }),
  };
  #numbers = { permitLimit: PERMITS, queueLimit: ROOM };
  readonly #slots = new ConcurrencyLimiter({ ...this.#numbers });
  readonly #window = new FixedWindowRateLimiter({
    ...this.#numbers,
    windowMs: WINDOW_MS,
    clock: this.#clock,
  });
  readonly #bucket = new TokenBucketRateLimiter({
    ...{ tokenLimit: PERMITS, tokensPerPeriod: 1, replenishmentPeriodMs: WINDOW_MS / 2 },
    ...{ queueLimit: ROOM, clock: this.#clock },
  });
  readonly #sliding = new SlidingWindowRateLimiter({
    ...{ permitLimit: PERMITS, windowMs: WINDOW_MS, segmentsPerWindow: 2 },
    ...{ queueLimit: 3, queueProcessingOrder: 'newestFirst', clock: this.#clock },
  });
  readonly #rows = [
    createPartitionedRateLimiter(
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => this.#numbers),
      {
        ...{ clock: this.#clock, idleTimeoutMs: IDLE_TIMEOUT_MS },
      },
    ),
    createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.getFixedWindowLimiter(key, () => ({ ...this.#numbers, windowMs: WINDOW_MS })),
      { clock: this.#clock, idleTimeoutMs: IDLE_TIMEOUT_MS },
    ),
  ] as const;
  readonly #alone: readonly RateLimiter[] = [this.#slots, this.#window, this.#bucket, this.#sliding];
  readonly #members = new Map<Name, Member>(
    [
      ...Object.values(this.#elsewhere).map(partitionedAlways),
      ...this.#alone.map(partitionedAlways),
      ...this.#rows,
    ].map((member, index) => [NAMES[index]!, member]),
  );
  readonly #requests: Request[] = [];

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'ask':
        return void this.#requests.push(new Request(this.#chainFor(step), step));
      case 'give back':
        return this.#at(step.at)?.giveBack();
      case 'leave':
        return this.#at(step.at)?.leave();
      case 'end the chain':
        return this.#at(step.at)?.endChain();
      case 'lose':
        return this.#elsewhere[step.name].last?.lose(new Error('lost'));
      case 'change':
        return this.#change(step);
      default:
        return this.#pass(step);
    }
  }

  /** Everybody gives back what he has, and time goes on, until nobody waits any more. */
  async comeToRest(): Promise<void> {
    for (let turns = 0; turns < 400 && this.#requests.some(({ isOver }) => !isOver); turns++) {
      for (const request of this.#requests) request.giveBack();
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      await soon();
      this.#clock.advance(WINDOW_MS / 4);
    }
    expect(this.#requests.filter(({ isOver }) => !isOver)).toEqual([]);
    await Promise.all(this.#requests.map(({ end }) => end));
    for (const request of this.#requests) request.giveBack();
    await soon();
    this.#clock.advance(10 * WINDOW_MS);
  }

  expectNothingLeft(): void {
    const { a, b } = this.#elsewhere;
    expect([a.free, a.waiting, b.free, b.waiting]).toEqual([PERMITS, 0, PERMITS, 0]);
    const { permitLimit } = this.#numbers;
    const limits = [permitLimit, permitLimit, PERMITS, PERMITS];
    for (const [index, limiter] of this.#alone.entries()) {
      expect(limiter.getStatistics()).toMatchObject({
        currentAvailablePermits: limits[index],
        currentQueuedCount: 0,
      });
      expect(limiter.idleDurationMs).not.toBeNull();
    }
    expect(this.#rows.map(({ partitionCount }) => partitionCount)).toEqual([0, 0]);
  }

  async end(): Promise<void> {
    await Promise.all([...this.#members.values()].map((member) => member.dispose()));
  }

  #at(place: number): Request | undefined {
    return this.#requests[place % Math.max(1, this.#requests.length)];
  }

  #chainFor({ names, within }: Asking): Member {
    const members = names.map((name) => this.#members.get(name)!);
    if (within === 0 || within >= members.length) return chainOf(...members);
    return chainOf(...members.slice(0, within), chainOf(...members.slice(within)));
  }

  #change({ permitLimit, queueLimit }: { permitLimit: number; queueLimit: number }): void {
    this.#numbers = { permitLimit, queueLimit };
    for (const limiter of [this.#slots, this.#window]) limiter.updateOptions(this.#numbers);
    for (const limiter of this.#rows) limiter.refreshOptions();
  }

  async #pass(step: Extract<Step, { do: 'pass' | 'turn' }>): Promise<void> {
    if (step.do === 'pass') return this.#clock.advance(step.ms);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (let turn = 0; turn < step.turns; turn++) await soon();
  }
}

it('whatever happens to requests for limiters here and elsewhere, each is answered, and nothing stays held or waited for', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 60 }), async (steps) => {
      const world = new World();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      for (const step of steps) await world.take(step);
      await world.comeToRest();
      world.expectNothingLeft();
      await world.end();
    }),
    { numRuns: 300 },
  );
});
