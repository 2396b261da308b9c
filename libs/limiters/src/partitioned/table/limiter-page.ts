import type { AsyncRateLimiter } from '../../async-rate-limiter.js';
import { asyncOnly } from '../../errors.js';
import { toMilliseconds } from '../../engine/time-unit.js';
import type { RateLimitLease } from '../../rate-limit-lease.js';
import { isRateLimiter } from '../../rate-limiter.js';
import type { RateLimiterStatistics } from '../../rate-limiter-statistics.js';
import type { WaitLimits } from '../partitioned-rate-limiter.js';
import type { PageContext } from './cell-page.js';
import { KeyColumn } from './key-column.js';
import { ELSEWHERE, isEvictable, KeptLimiter, MANUAL, PREDICTABLE, SAYS_WHEN_ENDED } from './kept-limiter.js';
import { endLimiter } from './own-limiter.js';
import type { Declared } from './partition-page.js';
import { PartitionPage } from './partition-page.js';
import type { ReplenishmentBeat } from './replenishment-beat.js';
import { PAGE_ROWS } from './rows.js';

/** How soon one is looked at again that says when it ends: only to let go of what its last request needed. */
const TIDY_MS = 10_000;

/** Partitions whose limiters are objects: those of factories, and those with settings that rows don't have. */
export class LimiterPage extends PartitionPage {
  readonly #limiters = Array.from<AsyncRateLimiter | undefined>({ length: PAGE_ROWS });
  readonly #traits = new Uint8Array(PAGE_ROWS);
  /** The few of which more has to be known. */
  readonly #kept = new Map<number, KeptLimiter>();
  override readonly table: PageContext;
  readonly #beat: ReplenishmentBeat;

  constructor(number: number, keyWidth: number, context: PageContext, beat: ReplenishmentBeat) {
    super(number, keyWidth, KeyColumn.ofWidth(keyWidth));
    this.table = context;
    this.#beat = beat;
  }

  /** Puts the limiter of a new partition into its place. */
  keep(index: number, key: unknown, limiter: AsyncRateLimiter, traits: number): void {
    this.#limiters[index] = limiter;
    this.#traits[index] = traits;
    if ((traits & MANUAL) !== 0) this.#keepMore(index, key);
  }

  /** The limiter of a partition as it was made. */
  limiterOf(index: number): AsyncRateLimiter {
    return this.#limiters[index]!;
  }

  override replenish(index: number): void {
    const kept = this.#is(index, MANUAL) ? this.#kept.get(index) : undefined;
    // It may have ended as it was asked how idle it is.
    if (kept !== undefined) this.#beat.replenish(kept);
  }

  override attempt(index: number, permits: number): RateLimitLease {
    const limiter = this.limiterOf(index);
    if (isRateLimiter(limiter)) return limiter.attemptAcquire(permits);
    throw asyncOnly(limiter);
  }

  // oxlint-disable-next-line max-params -- those of the method that it overrides
  override acquireOrWait(
    index: number,
    declared: Declared,
    _identity: unknown,
    permits: number,
    wait: () => WaitLimits,
  ): Promise<RateLimitLease> {
    const kept = this.#declare(index, declared);
    const lease = this.limiterOf(index).acquire(permits, wait());
    if (kept !== null && kept.manual !== null) this.#keepReplenished(kept, lease);
    return lease;
  }

  override limiterAt(index: number, declared: Declared): AsyncRateLimiter {
    const kept = this.#declare(index, declared);
    // A chain may let its request wait there without a word to this page.
    if (kept !== null) this.#beat.watch(kept);
    return this.limiterOf(index);
  }

  override statistics(index: number): RateLimiterStatistics | null {
    return this.limiterOf(index).getStatistics();
  }

  override refresh(index: number, declared: Declared): void {
    this.#declare(index, declared);
    // Its own key: that of who came first may say something else, where several are for one partition.
    declared.refresh?.(this.limiterOf(index), declared.partitionKey, this.table);
  }

  override declaredByWaiters(index: number): Declared | null {
    const kept = this.#kept.get(index);
    return kept !== undefined && kept.declared !== null && kept.hasWaiters ? kept.declared : null;
  }

  override isEvictable(index: number): boolean {
    return isEvictable(this.limiterOf(index), toMilliseconds(this.table.idleTimeout));
  }

  override dueMs(index: number, now: number): number {
    const nowMs = this.table.originMs + toMilliseconds(now);
    if (this.#is(index, SAYS_WHEN_ENDED)) return nowMs + TIDY_MS;
    if (!this.#is(index, PREDICTABLE)) return nowMs;
    const idleMs = this.limiterOf(index).idleDurationMs ?? 0;
    // Idle for longer than that already, it is held by a waiting chain, which may end at any moment.
    return nowMs + Math.max(0, toMilliseconds(this.table.idleTimeout) - idleMs);
  }

  override tidy(index: number): void {
    const kept = this.#kept.get(index);
    if (kept === undefined || kept.hasWaiters) return;
    this.#replenishUnasked(index, kept);
    kept.declared = null;
    if (kept.manual === null) this.#kept.delete(index);
  }

  override end(index: number, onError: (error: unknown) => void): void {
    const limiter = this.limiterOf(index);
    const kept = this.#kept.get(index);
    this.#limiters[index] = undefined;
    if (kept !== undefined) this.#beat.forget(kept);
    this.#kept.delete(index);
    endLimiter(limiter, onError);
  }

  /** Where that fails the caller is told so and gets no lease: what is granted after all goes back. */
  #keepReplenished(kept: KeptLimiter, pending: Promise<RateLimitLease>): void {
    try {
      this.#beat.keep(kept);
    } catch (error) {
      pending.then((lease) => lease.dispose()).catch(() => undefined);
      throw error;
    }
  }

  /** Notes what was declared for a request that may wait; `null` where that could be of no use later. */
  #declare(index: number, declared: Declared): KeptLimiter | null {
    const known = this.#kept.get(index);
    if (known === undefined && (declared.refresh === undefined || this.#is(index, ELSEWHERE))) return null;
    // One that isn't replenished by its keeper is told of in no error.
    const kept = known ?? this.#keepMore(index, undefined);
    kept.declared = declared;
    return kept;
  }

  /** Where nothing more is known yet: there is nothing of a partition that has ended. */
  #keepMore(index: number, key: unknown): KeptLimiter {
    const kept = new KeptLimiter(key, this.limiterOf(index), this.#traits[index]!);
    this.#kept.set(index, kept);
    return kept;
  }

  /** What its next request would find replenished may never have one: it must not stay for ever for that. */
  #replenishUnasked(index: number, kept: KeptLimiter): void {
    const { manual } = kept;
    // Of another maker's we can't know whether it needs to be.
    if (manual === null || manual.isAutoReplenishing || this.#is(index, SAYS_WHEN_ENDED)) return;
    this.#beat.replenish(kept);
  }

  #is(index: number, trait: number): boolean {
    return (this.#traits[index]! & trait) !== 0;
  }
}
