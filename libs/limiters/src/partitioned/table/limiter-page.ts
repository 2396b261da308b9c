import type { AsyncRateLimiter } from '../../async-rate-limiter.js';
import { asyncOnly } from '../../errors.js';
import { toMilliseconds } from '../../engine/time-unit.js';
import type { RateLimitLease } from '../../rate-limit-lease.js';
import { isRateLimiter } from '../../rate-limiter.js';
import type { RateLimiterStatistics } from '../../rate-limiter-statistics.js';
import type { WaitLimits } from '../partitioned-rate-limiter.js';
import type { PageContext } from './cell-page.js';
import { KeyColumn } from './key-column.js';
import type { KeptLimiter } from './kept-limiter.js';
import type { Declared } from './partition-page.js';
import { PartitionPage } from './partition-page.js';
import type { ReplenishmentBeat } from './replenishment-beat.js';

/** How soon a limiter is looked at again whose idleness can't be foreseen. */
const POLL_MS = 50;
/** How soon one is looked at again that says when it ends: only to let go of what its last request needed. */
const TIDY_MS = 10_000;

/** Partitions whose limiters are objects: those of factories, and those with settings that rows don't have. */
export class LimiterPage extends PartitionPage {
  readonly #limiters: (KeptLimiter | undefined)[] = [];
  readonly #context: PageContext;
  readonly #beat: ReplenishmentBeat;

  constructor(number: number, keyWidth: number, context: PageContext, beat: ReplenishmentBeat) {
    super(number, keyWidth, KeyColumn.ofWidth(keyWidth));
    this.#context = context;
    this.#beat = beat;
  }

  /** Puts the limiter of a new partition into its place. */
  keep(index: number, kept: KeptLimiter): void {
    this.#limiters[index] = kept;
  }

  /** The limiter of a partition as it was made. */
  limiterOf(index: number): AsyncRateLimiter {
    return this.#at(index).limiter;
  }

  override replenish(index: number): void {
    this.#beat.replenish(this.#at(index));
  }

  override attempt(index: number, permits: number): RateLimitLease {
    const { limiter } = this.#at(index);
    if (isRateLimiter(limiter)) return limiter.attemptAcquire(permits);
    throw asyncOnly(limiter);
  }

  override acquireOrWait(
    index: number,
    declared: Declared,
    permits: number,
    wait: () => WaitLimits,
  ): Promise<RateLimitLease> {
    const kept = this.#at(index);
    kept.declared = declared;
    const lease = kept.limiter.acquire(permits, wait());
    if (kept.manual !== null) this.#beat.keep(kept);
    return lease;
  }

  override limiterAt(index: number, declared: Declared): AsyncRateLimiter {
    const kept = this.#at(index);
    kept.declared = declared;
    // A chain may let its request wait there without a word to this page.
    this.#beat.watch(kept);
    return kept.limiter;
  }

  override statistics(index: number): RateLimiterStatistics | null {
    return this.#at(index).limiter.getStatistics();
  }

  override refresh(index: number, declared: Declared): void {
    const kept = this.#at(index);
    kept.declared = declared;
    kept.refresh(this.#context);
  }

  override declaredByWaiters(index: number): Declared | null {
    const kept = this.#at(index);
    return kept.declared !== null && kept.hasWaiters ? kept.declared : null;
  }

  override isEvictable(index: number): boolean {
    return this.#at(index).isEvictable(toMilliseconds(this.#context.idleTimeout));
  }

  override dueMs(index: number, now: number): number {
    const nowMs = this.#context.originMs + toMilliseconds(now);
    const kept = this.#at(index);
    if (kept.saysWhenEnded) return nowMs + TIDY_MS;
    if (!kept.isPredictable) return nowMs + POLL_MS;
    const idleMs = kept.limiter.idleDurationMs ?? 0;
    // Idle for longer than that already, it is held by a waiting chain: look again soon.
    return nowMs + Math.max(POLL_MS, toMilliseconds(this.#context.idleTimeout) - idleMs);
  }

  override tidy(index: number): void {
    const kept = this.#at(index);
    if (!kept.hasWaiters) kept.declared = null;
  }

  override end(index: number, onError: (error: unknown) => void): void {
    const kept = this.#at(index);
    this.#limiters[index] = undefined;
    this.#beat.forget(kept);
    try {
      const ended = kept.limiter.dispose();
      if (ended instanceof Promise) ended.catch(onError);
    } catch (error) {
      onError(error);
    }
  }

  #at(index: number): KeptLimiter {
    return this.#limiters[index]!;
  }
}
