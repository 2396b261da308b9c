import * as fc from 'fast-check';
import type { PartitionedRateLimiter, RateLimitLease } from '../../src/index.js';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
} from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';
import { expectAtMost, expectEqual } from '../model/compared.js';
import { settle } from '../model/trace.js';
import type { Visit } from './visits.js';
import { perGroup, Session, visit, VisitLimiter } from './visits.js';

const SESSIONS = 4;
const GROUPS = ['one', 'two'];

/** Something that happens to sessions and their requests. */
export type LifeEvent =
  | {
      readonly do: 'attempt' | 'acquire';
      readonly session: number;
      readonly permits: number;
      readonly chain: boolean;
    }
  | { readonly do: 'attemptAlone' | 'acquireAlone'; readonly group: number; readonly chain: boolean }
  | { readonly do: 'abort' | 'disposeLease'; readonly pick: number }
  | { readonly do: 'endSession'; readonly session: number }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'settle' };

export type Life = readonly LifeEvent[];

/** What the limiters are like. */
export interface LifeSetup {
  readonly permitLimit: number;
  readonly queueLimit: number;
  readonly isNewestFirst: boolean;
  readonly all: number;
  readonly allQueueLimit: number;
  /** Whether the limiter for all comes first in the chain. */
  readonly isAllFirst: boolean;
  readonly how?: 'alone' | 'in a chain' | 'both' | 'with the reference limiter';
}

const session = fc.nat({ max: SESSIONS - 1 });
const chain = fc.boolean();
const pick = fc.nat({ max: 50 });

export const anyLifeSetup: fc.Arbitrary<LifeSetup> = fc.record({
  permitLimit: fc.integer({ min: 1, max: 2 }),
  queueLimit: fc.integer({ min: 0, max: 3 }),
  isNewestFirst: fc.boolean(),
  all: fc.integer({ min: 1, max: 3 }),
  allQueueLimit: fc.integer({ min: 0, max: 4 }),
  isAllFirst: fc.boolean(),
});

const anyEvent: fc.Arbitrary<LifeEvent> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('attempt', 'acquire', 'acquire'),
      session,
      permits: fc.nat({ max: 2 }),
      chain,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('attemptAlone', 'acquireAlone'),
      group: fc.nat({ max: 1 }),
      chain,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('abort', 'disposeLease', 'disposeLease'), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('endSession'), session }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('advance'), ms: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('settle') }) },
);

export const anyLife: fc.Arbitrary<Life> = fc.array(anyEvent, { minLength: 1, maxLength: 60, size: 'max' });

interface Request {
  readonly controller: AbortController;
  isOver: boolean;
}

/** Lives a life on real limiters, and knows what has to hold. */
export class LifeTrial {
  readonly #clock = new FakeClock();
  readonly #setup: LifeSetup;
  readonly #base: PartitionedRateLimiter<Visit>;
  readonly #all: PartitionedRateLimiter<Visit>;
  readonly #linked: VisitLimiter;
  readonly #chain: PartitionedRateLimiter<Visit>;
  /** Chains in which the reference limiter stands too, in opposite orders. */
  readonly #withBase: readonly PartitionedRateLimiter<Visit>[];
  readonly #sessions = Array.from({ length: SESSIONS }, () => new Session());
  readonly #ended: Session[] = [];
  readonly #requests: Request[] = [];
  #leases: RateLimitLease[] = [];
  readonly #unexpected: unknown[] = [];

  constructor(setup: LifeSetup) {
    this.#setup = setup;
    const clock = this.#clock;
    this.#base = perGroup(setup.permitLimit, {
      queueLimit: setup.queueLimit,
      queueProcessingOrder: setup.isNewestFirst ? 'newestFirst' : 'oldestFirst',
      clock,
    });
    this.#all = createPartitionedRateLimiter(
      (_visit: Visit) =>
        RateLimitPartition.getConcurrencyLimiter('all', () => ({
          permitLimit: setup.all,
          queueLimit: setup.allQueueLimit,
        })),
      { clock },
    );
    this.#linked = new VisitLimiter(this.#base, { clock });
    const members = [this.#all, this.#linked];
    this.#chain = createChainedPartitionedRateLimiter(...(setup.isAllFirst ? members : members.reverse()));
    const three = [...members, this.#base];
    this.#withBase = [three, [...three].reverse()].map((each) =>
      createChainedPartitionedRateLimiter(...each),
    );
  }

  /**
   * Has requests of the first session passed over at their turns in both limiters until one reserves: it holds the
   * permit of one and waits for the other. For limiters that have as many permits as it needs, and queues.
   */
  async passOver(requests: number): Promise<void> {
    const { isAllFirst, all, permitLimit, how } = this.#setup;
    const limiters = [
      { limiter: this.#all, permits: all },
      { limiter: this.#base, permits: permitLimit },
    ];
    if (!isAllFirst) limiters.reverse();
    const take = (index: number): RateLimitLease =>
      limiters[index]!.limiter.attemptAcquire(visit(null, GROUPS[0]), limiters[index]!.permits);
    const held = [take(0), take(1)];
    const chain = how === 'with the reference limiter' ? this.#withBase[0]! : this.#chain;
    for (let count = 0; count < requests; count++) this.#acquireFrom(chain, this.#visit(0), 1);
    for (let turn = 0; turn < 5; turn++) {
      const index = turn % 2;
      held[index]!.dispose();
      held[index] = take(index);
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      await settle(20);
    }
    for (const lease of held) if (lease.isAcquired) this.#leases.push(lease);
  }

  async run(event: LifeEvent): Promise<void> {
    switch (event.do) {
      case 'attempt':
        return this.#attempt(this.#visit(event.session), this.#permits(event.permits), event.chain);
      case 'acquire':
        return this.#acquire(this.#visit(event.session), this.#permits(event.permits), event.chain);
      case 'attemptAlone':
        return this.#attempt(visit(null, GROUPS[event.group]), 1, event.chain);
      case 'acquireAlone':
        return this.#acquire(visit(null, GROUPS[event.group]), 1, event.chain);
      case 'abort':
        return this.#abort(event.pick);
      case 'disposeLease':
        this.#leases.splice(event.pick % Math.max(1, this.#leases.length), 1)[0]?.dispose();
        return undefined;
      case 'endSession':
        return this.#end(event.session);
      case 'advance':
        return this.#clock.advance(event.ms);
      case 'settle':
        return settle(20);
    }
  }

  /** N per group: no more leases are out than permits, and every session has at most one of them. */
  expectAtMostTheLimit(): void {
    expectEqual(this.#unexpected, []);
    for (const [index, group] of GROUPS.entries()) {
      const { permitLimit } = this.#setup;
      const live = this.#sessions.filter((one, at) => at % 2 === index && one.lease !== undefined).length;
      expectAtMost(live, permitLimit);
      const free = this.#base.getStatistics(visit(null, group))!.currentAvailablePermits;
      expectAtMost(free, permitLimit - live);
    }
  }

  /** Ends all sessions, leases and waits, in whatever order they are in. */
  async endEverything(): Promise<void> {
    for (let index = 0; index < SESSIONS; index++) this.#end(index);
    for (const one of this.#sessions) one.dispose();
    await this.#endLeases();
  }

  /** Once all work has ended, only sessions hold permits: who waits does so for theirs, and holds none. */
  async expectNobodyToHoldWhileWaiting(): Promise<void> {
    await this.#endLeases();
    for (const [index, group] of GROUPS.entries()) {
      const live = this.#sessions.filter((one, at) => at % 2 === index && one.lease !== undefined).length;
      const free = this.#base.getStatistics(visit(null, group))!.currentAvailablePermits;
      expect(free).toBe(this.#setup.permitLimit - live);
      if (live === 0) expect(this.#base.getStatistics(visit(null, group))!.currentQueuedCount).toBe(0);
    }
  }

  /** Ends all leases, and those of the requests that they are handed on to. */
  async #endLeases(): Promise<void> {
    for (let round = 0; round < 100 && this.#requests.some((request) => !request.isOver); round++) {
      for (const lease of this.#leases.splice(0)) lease.dispose();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await settle(20);
    }
    for (const lease of this.#leases.splice(0)) lease.dispose();
  }

  expectEverythingBack(): void {
    expect(this.#unexpected).toEqual([]);
    for (const group of GROUPS) {
      expect(this.#base.getStatistics(visit(null, group))).toMatchObject({
        currentAvailablePermits: this.#setup.permitLimit,
        currentQueuedCount: 0,
      });
    }
    expect(this.#all.getStatistics(visit(null))).toMatchObject({
      currentAvailablePermits: this.#setup.all,
      currentQueuedCount: 0,
    });
    // An old handle of an ended session touches nobody.
    expect(this.#ended.every((one) => one.released.every((lease) => lease.isAcquired))).toBe(true);
  }

  /** The requests that nobody has answered. */
  async waitForEver(): Promise<Request[]> {
    await settle(20);
    return this.#requests.filter((request) => !request.isOver);
  }

  /** What a request of a session can ask for, so that there can be enough. */
  #permits(any: number): number {
    const { all, permitLimit, how } = this.#setup;
    // One more is the session's own.
    return Math.min(any, all, how === 'with the reference limiter' ? permitLimit - 1 : Infinity);
  }

  #visit(index: number): Visit {
    return visit(this.#sessions[index]!, GROUPS[index % 2]);
  }

  #limiter(inChain: boolean): PartitionedRateLimiter<Visit> {
    const { how } = this.#setup;
    if (how === 'with the reference limiter') return this.#withBase[inChain ? 0 : 1]!;
    return how === 'alone' || (how === 'both' && !inChain) ? this.#linked : this.#chain;
  }

  #attempt(resource: Visit, permits: number, inChain: boolean): void {
    const lease = this.#limiter(inChain).attemptAcquire(resource, permits);
    if (lease.isAcquired) this.#leases.push(lease);
  }

  #acquire(resource: Visit, permits: number, inChain: boolean): void {
    this.#acquireFrom(this.#limiter(inChain), resource, permits);
  }

  #acquireFrom(limiter: PartitionedRateLimiter<Visit>, resource: Visit, permits: number): void {
    const request: Request = { controller: new AbortController(), isOver: false };
    this.#requests.push(request);
    const { signal } = request.controller;
    limiter.acquire(resource, permits, { signal }).then(
      (lease) => {
        request.isOver = true;
        if (lease.isAcquired) this.#leases.push(lease);
      },
      (error: unknown) => {
        request.isOver = true;
        if (error !== signal.reason) this.#unexpected.push(error);
      },
    );
  }

  #abort(pick: number): void {
    const pending = this.#requests.filter((request) => !request.isOver);
    pending[pick % Math.max(1, pending.length)]?.controller.abort(new Error('gone'));
  }

  /** A session ends; a later one takes its number. */
  #end(index: number): void {
    const session = this.#sessions[index]!;
    session.dispose();
    session.lease = undefined;
    this.#ended.push(session);
    this.#sessions[index] = new Session();
  }
}
