import type { Instant } from '../../chained/instant.js';
import type { Clock } from '../../clock.js';
import type { AsyncRateLimiter } from '../../async-rate-limiter.js';
import { aboveLimit } from '../../checks.js';
import * as state from '../../engine/decision.js';
import type { CoreResidents, SharedPlace } from '../../engine/core-residents.js';
import type { LimiterCore } from '../../engine/limiter-core.js';
import { GrantedLease, HeldLease, quotaEntry } from '../../engine/granted-lease.js';
import type { LimiterPlan } from '../../engine/limiter-plan.js';
import { isSamePlan } from '../../engine/limiter-plan.js';
import { REASON } from '../../engine/refused-lease.js';
import { sinceOrigin, toMilliseconds, toRetryAfterMs } from '../../engine/time-unit.js';
import { throwIfAborted } from '../../queue/abort-subscription.js';
import type { RateLimitLease, RateLimitQuota } from '../../rate-limit-lease.js';
import type { RateLimiterStatistics } from '../../rate-limiter-statistics.js';
import { isHelperPartition } from '../helper-partition.js';
import type { WaitLimits } from '../partitioned-rate-limiter.js';
import type { CellGroup } from './cell-groups.js';
import { KeyColumn } from './key-column.js';
import type { Declared, TableChanges } from './partition-page.js';
import { PartitionPage } from './partition-page.js';
import { RowCore } from './row-core.js';
import { noPlace, RowLimiter } from './row-limiter.js';
import { PAGE_ROWS } from './rows.js';

/** What all pages of a table have in common. */
export interface PageContext extends TableChanges {
  /** The origin of all times, in clock milliseconds. */
  readonly originMs: number;
  /** Nanoseconds. */
  readonly idleTimeout: number;
  readonly clock: Clock;
  /** The clock's reading in nanoseconds since the origin. */
  read(): number;
  /** The limiter of a key as it is now; `null` at the cap. */
  limiterFor(declared: Declared, identity: unknown): AsyncRateLimiter | null;
}

/**
 * Partitions of one plan, as rows of numbers. Nothing of a partition is an object as long as nobody waits in it;
 * while somebody does, a core resides over its row.
 */
export class CellPage extends PartitionPage implements SharedPlace, CoreResidents {
  readonly cells: Float64Array;
  readonly originMs: number;
  /** What its rows have in common. */
  readonly group: CellGroup;
  readonly #plan: LimiterPlan;
  readonly #stride: number;
  override readonly table: PageContext;
  readonly #idleTimeout: number;
  #residents: Map<number, RowCore> | null = null;

  /** @param keyWidth - in words; the key of a row stands behind its state, so that they share cache lines. */
  constructor(number: number, group: CellGroup, keyWidth: number, context: PageContext) {
    const stateSize = state.stateSize(group.plan.algorithm);
    const stride = stateSize + keyWidth / 2;
    const cells = new Float64Array(PAGE_ROWS * stride);
    super(
      number,
      keyWidth,
      new KeyColumn(new Int32Array(cells.buffer), stateSize * 2, keyWidth === 0 ? 0 : stride * 2),
    );
    this.group = group;
    this.#plan = group.plan;
    this.#stride = stride;
    this.table = context;
    this.#idleTimeout = context.idleTimeout;
    this.originMs = context.originMs;
    this.cells = cells;
  }

  get residents(): CoreResidents {
    return this;
  }

  residentAt(at: number): RowCore | undefined {
    return this.#residents?.get(at);
  }

  settle(core: LimiterCore, at: number): void {
    this.#residents ??= new Map();
    this.#residents.set(at, core as RowCore);
  }

  /** Writes the state of a new partition. */
  initialize(index: number, now: number): void {
    state.initializeState(this.#plan.algorithm, this.cells, index * this.#stride, now);
  }

  override replenish(): void {
    // What is due is applied by whatever looks at the row.
  }

  override attempt(index: number, permits: number, now: number): RateLimitLease {
    const at = index * this.#stride;
    const resident = this.residentAt(at);
    if (resident === undefined) return this.#attempt(at, permits, now);
    resident.assertAcquirable(permits);
    return resident.attempt(permits);
  }

  override attemptUnlessIdle(index: number, permits: number, now: number): RateLimitLease | null {
    if (this.#residents !== null) return super.attemptUnlessIdle(index, permits, now);
    const at = index * this.#stride;
    const idleSince = this.#plan.algorithm.idleSince(this.cells, state.ownCells(at), now);
    if (now - idleSince > this.#idleTimeout) return null;
    return this.#attempt(at, permits, now);
  }

  // oxlint-disable-next-line max-params -- once per decision: they aren't worth an object
  override acquireOrWait(
    index: number,
    declared: Declared,
    identity: unknown,
    permits: number,
    wait: () => WaitLimits,
  ): RateLimitLease | Promise<RateLimitLease> {
    const at = index * this.#stride;
    const resident = this.residentAt(at);
    if (resident === undefined) {
      const now = this.table.read();
      if (this.#plan.queueLimit === 0) return this.#attempt(at, permits, now);
      const lease = this.#tryGrant(at, permits, now);
      if (lease !== null) return lease;
    } else resident.assertAcquirable(permits);
    const { changes } = this.table;
    const bounds = wait();
    // That is code of others, which may have used the table: the row may have gone.
    if (changes !== this.table.changes)
      return this.table.limiterFor(declared, identity)?.acquire(permits, bounds) ?? noPlace();
    const { signal, maxWaitMs } = bounds;
    if (signal !== undefined) throwIfAborted(signal);
    const core = this.#coreAt(at, declared);
    core.assertAcquirable(permits);
    return core.acquire(permits, signal, maxWaitMs);
  }

  override limiterAt(index: number, declared: Declared, identity: unknown): AsyncRateLimiter {
    const at = index * this.#stride;
    const resident = this.residentAt(at);
    if (resident !== undefined) resident.declared = declared;
    return new RowLimiter(this, at, declared, identity);
  }

  /** A core for a row that has no resident. */
  newCore(at: number, declared: Declared | null): RowCore {
    const core = new RowCore(this.#plan, this, at);
    core.declared = declared;
    return core;
  }

  /** Whether a decision on a row concerns its numbers alone: nobody waits in it, and the request is none that is an error. */
  decidesOutright(at: number, permits: number): boolean {
    return this.residentAt(at) === undefined && permits <= this.#plan.limit;
  }

  /** The moment of a decision, for the methods that a decision outright consists of. */
  nowIn(instant: Instant): number {
    return sinceOrigin(instant.nowMs(this.#plan.clock), this.originMs);
  }

  /** Outright: brings a row up to date, and tells whether it has enough. */
  hasEnough(at: number, permits: number, now: number): boolean {
    const own = state.ownCells(at);
    this.#plan.algorithm.advance(this.cells, own, now);
    return this.#plan.algorithm.available(this.cells, own) >= (permits === 0 ? 1 : permits);
  }

  /** Outright: takes permits that are there. */
  take(at: number, permits: number, now: number): RateLimitLease {
    return this.#tryGrant(at, permits, now)!;
  }

  /** Outright: refuses permits that aren't there. */
  refuse(at: number, permits: number, now: number): RateLimitLease {
    return state.refuse(this.#plan.algorithm, this.cells, at, {
      reason: this.#plan.isReplenishing ? undefined : REASON.permitLimitReached,
      dueAt: this.#dueAt(at, permits),
      now,
    });
  }

  /** Outright: how a row stands. */
  quota(at: number, now: number, member: number): RateLimitQuota {
    const { algorithm } = this.#plan;
    const own = state.ownCells(at);
    const remaining = algorithm.available(this.cells, own);
    return quotaEntry(algorithm, remaining, algorithm.untilFull(this.cells, own, now), member);
  }

  /** Outright: in how many milliseconds permits that aren't there could be; `undefined` where nobody knows. */
  retryAfterMs(at: number, permits: number, now: number): number | undefined {
    const dueAt = this.#dueAt(at, permits);
    return Number.isNaN(dueAt) ? undefined : toRetryAfterMs(dueAt - now);
  }

  override statistics(index: number): RateLimiterStatistics {
    return this.#coreAt(index * this.#stride, null).getStatistics();
  }

  override refresh(index: number, declared: Declared): void {
    // A foreign partition under the key of one of ours can say nothing about its numbers.
    if (!isHelperPartition(declared) || declared.kind.kind.name !== this.#plan.name) return;
    const at = index * this.#stride;
    const options = declared.options(declared.partitionKey);
    const { kind } = declared.kind;
    if (this.residentAt(at) === undefined && isSamePlan(kind, this.group.options, options)) return;
    this.#coreAt(at, declared).change(kind.plan({ ...options, clock: this.#plan.clock }));
  }

  override declaredByWaiters(index: number): Declared | null {
    const resident = this.residentAt(index * this.#stride);
    return resident !== undefined && (resident.hasWaiters || resident.isHeld) ? resident.declared : null;
  }

  override isEvictable(index: number, now: number): boolean {
    const at = index * this.#stride;
    const resident = this.residentAt(at);
    if (resident !== undefined) {
      const idleMs = resident.idleDurationMs;
      return idleMs !== null && idleMs > toMilliseconds(this.table.idleTimeout) && !resident.isHeld;
    }
    const own = state.ownCells(at);
    return now - this.#plan.algorithm.idleSince(this.cells, own, now) > this.table.idleTimeout;
  }

  override dueMs(index: number, now: number): number {
    const at = index * this.#stride;
    const resident = this.residentAt(at);
    // One in which nobody waits any more says no other than the row.
    const isBusy =
      resident !== undefined && (resident.hasWaiters || resident.isHeld || !resident.isAt(this.cells));
    const since = isBusy ? now : this.#fullAt(state.ownCells(at), now);
    return this.originMs + toMilliseconds(since + this.table.idleTimeout);
  }

  override tidy(index: number): void {
    const at = index * this.#stride;
    const resident = this.residentAt(at);
    if (resident === undefined || resident.hasWaiters || resident.isHeld) return;
    resident.declared = null;
    // With a state of its own (its numbers have changed) it stays.
    if (resident.isAt(this.cells)) this.#residents!.delete(at);
  }

  override end(index: number): void {
    const at = index * this.#stride;
    this.residentAt(at)?.dispose();
    this.#residents?.delete(at);
  }

  /** When all permits are back: the moment it has been, or at the earliest will be. */
  #fullAt(own: number, now: number): number {
    const { algorithm } = this.#plan;
    const since = algorithm.fullSince(this.cells, own);
    if (!Number.isNaN(since)) return since;
    const untilFull = algorithm.untilFull(this.cells, own, now);
    return Number.isNaN(untilFull) ? now : now + untilFull;
  }

  #coreAt(at: number, declared: Declared | null): RowCore {
    const resident = this.residentAt(at);
    if (resident === undefined) return this.newCore(at, declared);
    if (declared !== null) resident.declared = declared;
    return resident;
  }

  #dueAt(at: number, permits: number): number {
    return this.#plan.algorithm.dueAt(this.cells, state.ownCells(at), permits || 1);
  }

  #attempt(at: number, permits: number, now: number): RateLimitLease {
    const { algorithm, limit, isReplenishing } = this.#plan;
    if (!isReplenishing) return this.#tryGrant(at, permits, now) ?? this.refuse(at, permits, now);
    if (permits > limit) throw aboveLimit(permits, limit);
    return state.decideRate(algorithm, this.cells, at, permits, now);
  }

  /** The lease, or `null` where there isn't enough. */
  #tryGrant(at: number, permits: number, now: number): RateLimitLease | null {
    const { cells } = this;
    const { algorithm, limit, isReplenishing } = this.#plan;
    if (permits > limit) throw aboveLimit(permits, limit);
    const own = state.ownCells(at);
    const remaining = algorithm.tryTake(cells, own, permits, now);
    if (remaining < 0) return null;
    state.countGrant(cells, at);
    if (!isReplenishing) return this.#hold(at, permits, remaining);
    return new GrantedLease(algorithm, remaining, algorithm.untilFull(cells, own, now));
  }

  #hold(at: number, permits: number, remaining: number): RateLimitLease {
    return new HeldLease(new RowCore(this.#plan, this, at), permits, remaining);
  }
}
