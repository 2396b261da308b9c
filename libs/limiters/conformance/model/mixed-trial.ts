import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  ObjectDisposedError,
  PartitionedRateLimiter,
  RateLimitPartition,
} from '../../src/index.js';
import type { RateLimitLease } from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';
import type { Visit } from '../linked/visits.js';
import { visit, VisitLimiter } from '../linked/visits.js';
import { expectAtMost, expectEqual } from './compared.js';
import { helperPartition } from './helper-setups.js';
import type { ChangeableLimiter, Kind, Setup } from './limiter-setups.js';
import { changeLimit, createLimiter } from './limiter-setups.js';
import type { MixedEvent, MixedSetup, SuddenEvent } from './mixed-events.js';
import { SESSIONS } from './mixed-events.js';
import { BusySession, Foreign, QUEUE_LIMIT } from './mixed-members.js';
import { picked, settle } from './trace.js';

const GROUPS = ['group'];

interface MixedRequest {
  readonly controller: AbortController;
  isOver: boolean;
}

/** Partitioned limiters of all kinds in chains of all kinds, and whatever can happen to them. */
export class MixedTrial {
  readonly #clock = new FakeClock(1_000);
  readonly #limits: number[];
  readonly #setup: Setup;
  /** The reference limiter, one by a helper, one made by hand, the one that is linked, a chain within chains. */
  readonly #pool: readonly PartitionedRateLimiter<Visit>[];
  readonly #foreign: Foreign;
  /** Of a request that is passed over, as the one that is linked. */
  readonly #crowded: PartitionedRateLimiter<Visit>;
  readonly #passedOver: PartitionedRateLimiter<Visit>;
  readonly #chains: readonly PartitionedRateLimiter<Visit>[];
  readonly #byHand: ChangeableLimiter[] = [];
  readonly #sessions: BusySession[];
  readonly #requests: MixedRequest[] = [];
  readonly #leases: RateLimitLease[] = [];
  readonly #meanwhile: SuddenEvent[] = [];
  readonly #unexpected: unknown[] = [];

  constructor({ limits, kinds, setup, chains, beforeForeign }: MixedSetup) {
    this.#limits = [...limits];
    this.#setup = { ...setup, queueLimit: QUEUE_LIMIT };
    const base = this.#partitioned((group) => this.#byHelper('concurrency', group, 0));
    const helped = this.#partitioned((group) => this.#byHelper(kinds[0], group, 1));
    const own = this.#partitioned((group) => RateLimitPartition.get(group, () => this.#make(kinds[1])));
    const linked = new VisitLimiter(base, { clock: this.#clock });
    this.#pool = [base, helped, own, linked, createChainedPartitionedRateLimiter(helped, linked)];
    this.#foreign = new Foreign(limits[3]);
    this.#crowded = this.#partitioned((group) => this.#byHelper('concurrency', group, 3));
    this.#passedOver = createChainedPartitionedRateLimiter(linked, this.#crowded);
    this.#chains = [
      ...chains.map((members) =>
        createChainedPartitionedRateLimiter(...members.map((at) => this.#pool[at]!)),
      ),
      createChainedPartitionedRateLimiter(this.#pool[beforeForeign]!, this.#foreign),
    ];
    this.#sessions = Array.from({ length: SESSIONS }, () => this.#newSession());
  }

  get waiting(): MixedRequest[] {
    return this.#requests.filter(({ isOver }) => !isOver);
  }

  async run(event: MixedEvent): Promise<void> {
    if (event.do === 'advance') this.#clock.advance(event.ms);
    else if (event.do === 'meanwhile') this.#meanwhile.push(event.event);
    else if (event.do === 'passOver') this.#passOver(this.#visit(event.session));
    else if (event.do !== 'settle') this.#happen(event);
    if (event.do === 'settle' || event.do === 'advance') await settle();
  }

  expectNothingUnexpected(): void {
    expectEqual(this.#unexpected, []);
    for (const { free, limit } of this.#standing()) expectAtMost(free, limit);
  }

  /** Work ends as it is granted and time goes on, then the sessions end too: nobody waits, and everything is back. */
  async expectPeace(): Promise<void> {
    this.#meanwhile.length = 0;
    // Enough for the most that a request asks for, thrice two, and all sessions: what those have needs not come back.
    this.#limits[0] = 6 + SESSIONS;
    this.#pool[0]!.refreshOptions();
    await this.#endWaits(() => this.#endWork());
    expect(this.waiting.length).toBe(0);
    await this.#endWaits(() => {
      this.#endWork();
      for (let index = 0; index < SESSIONS; index++)
        if (this.#sessions[index]!.lease !== undefined) this.#endSession(index);
    });
    for (const session of this.#sessions) session.dispose();
    this.#clock.advance(1_000);
    for (const { free, queued, limit } of this.#standing())
      expect({ free, queued }).toEqual({ free: limit, queued: 0 });
    expect(this.#unexpected).toEqual([]);
    for (const limiter of [...this.#chains, this.#passedOver, this.#crowded, ...this.#pool])
      limiter.dispose();
    expect(this.#clock.pendingTimers).toBe(0);
  }

  /** Ends something again and again, until nobody waits or it has been tried often enough. */
  async #endWaits(end: () => void): Promise<void> {
    for (let round = 0; round < 200 && this.waiting.length > 0; round++) {
      end();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await settle();
      this.#clock.advance(5);
      // oxlint-disable-next-line no-await-in-loop
      await settle();
    }
    end();
  }

  #endWork(): void {
    for (const lease of this.#leases.splice(0)) lease.dispose();
  }

  #happen(event: SuddenEvent): void {
    switch (event.do) {
      case 'attempt':
        return this.#attempt(event.pick, this.#visit(event.session), event.permits);
      case 'acquire':
        return this.#acquire(event.pick, this.#visit(event.session), event);
      case 'abort':
        return picked(this.waiting, event.pick)?.controller.abort(new Error('gone'));
      case 'disposeLease':
        return this.#leases.splice(event.pick % Math.max(1, this.#leases.length), 1)[0]?.dispose();
      case 'endSession':
        return this.#endSession(event.pick % SESSIONS);
      case 'disposeChain':
        return this.#chains[event.pick % this.#chains.length]!.dispose();
      default:
        return this.#change(event.do, event.pick, event.limit);
    }
  }

  /** Two members of a chain are free in turns, never both: its request is passed over until it reserves. */
  #passOver(resource: Visit): void {
    const members = [this.#pool[3]!, this.#crowded];
    const held = members.map((limiter) => this.#takeAll(limiter));
    this.#acquire(0, resource, { permits: 1, maxWaitMs: Infinity }, this.#passedOver);
    for (let turn = 0; turn < 5; turn++) {
      const at = turn % 2;
      for (const lease of held[at]!.splice(0)) lease.dispose();
      held[at] = this.#takeAll(members[at]!);
    }
    this.#leases.push(...held.flat());
  }

  /** All that is free, for nobody's session. */
  #takeAll(limiter: PartitionedRateLimiter<Visit>): RateLimitLease[] {
    const leases: RateLimitLease[] = [];
    for (let lease = limiter.attemptAcquire(visit(null)); lease.isAcquired;) {
      leases.push(lease);
      lease = limiter.attemptAcquire(visit(null));
    }
    return leases;
  }

  #change(how: 'refresh' | 'update' | 'reset', pick: number, limit: number): void {
    if (how === 'refresh') {
      this.#limits[pick % 2] = Math.max(limit, 2 - (pick % 2));
      return this.#pool[pick % 2]!.refreshOptions();
    }
    if (how === 'update') this.#limits[2] = limit;
    for (const limiter of this.#byHand) {
      try {
        if (how === 'reset') limiter.reset();
        else changeLimit(limiter, limit);
      } catch (error) {
        // Its partition may have gone.
        if (!(error instanceof ObjectDisposedError)) throw error;
      }
    }
  }

  #attempt(pick: number, resource: Visit, permits: number): void {
    try {
      const lease = this.#target(pick).attemptAcquire(resource, permits);
      if (lease.isAcquired) this.#leases.push(lease);
    } catch (error) {
      this.#note(error);
    }
  }

  #acquire(
    pick: number,
    resource: Visit,
    { permits, maxWaitMs }: { readonly permits: number; readonly maxWaitMs: number },
    limiter = this.#target(pick),
  ): void {
    const request: MixedRequest = { controller: new AbortController(), isOver: false };
    this.#requests.push(request);
    const { signal } = request.controller;
    // That of another maker is bounded by a timer that no fake clock drives.
    const isForeign = limiter === this.#foreign || limiter === this.#chains.at(-1);
    limiter.acquire(resource, permits, { signal, maxWaitMs: isForeign ? Infinity : maxWaitMs }).then(
      (lease) => {
        request.isOver = true;
        if (lease.isAcquired) this.#leases.push(lease);
      },
      (error: unknown) => {
        request.isOver = true;
        if (error !== signal.reason) this.#note(error);
      },
    );
  }

  /** Limits sink and chains end: what asks for too much, or for what has ended, is told so. */
  #note(error: unknown): void {
    if ((error as { code?: unknown }).code === 'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT') return;
    if (!(error instanceof ObjectDisposedError)) this.#unexpected.push(error);
  }

  #visit(session: number): Visit {
    return visit(this.#sessions[session] ?? null, GROUPS[0]);
  }

  #target(pick: number): PartitionedRateLimiter<Visit> {
    const all = [...this.#chains, ...this.#chains, ...this.#pool, this.#foreign];
    return all[pick % all.length]!;
  }

  #endSession(index: number): void {
    const session = this.#sessions[index]!;
    this.#sessions[index] = this.#newSession();
    session.dispose();
  }

  #newSession(): BusySession {
    return new BusySession(() => {
      const event = this.#meanwhile.shift();
      if (event !== undefined) this.#happen(event);
    });
  }

  #standing(): { free: number; queued: number; limit: number }[] {
    const limiters = [...this.#pool.slice(0, 3), this.#foreign, this.#crowded];
    return limiters.flatMap((limiter, at) =>
      GROUPS.map((group) => {
        const { currentAvailablePermits, currentQueuedCount } = limiter.getStatistics(visit(null, group))!;
        return {
          free: currentAvailablePermits,
          queued: currentQueuedCount,
          limit: this.#limits[Math.min(at, 3)]!,
        };
      }),
    );
  }

  #partitioned(partition: (group: string) => RateLimitPartition<string>): PartitionedRateLimiter<Visit> {
    const clock = this.#clock;
    return createPartitionedRateLimiter(({ group }: Visit) => partition(group), { clock, idleTimeoutMs: 50 });
  }

  #make(kind: Kind): ChangeableLimiter {
    const made = createLimiter(
      kind,
      { ...this.#setup, limit: this.#limits[2]! },
      this.#clock,
    ) as ChangeableLimiter;
    this.#byHand.push(made);
    return made;
  }

  #byHelper(kind: Kind, group: string, at: number): RateLimitPartition<string> {
    return helperPartition(kind, group, () => ({ ...this.#setup, limit: this.#limits[at]! }));
  }
}
