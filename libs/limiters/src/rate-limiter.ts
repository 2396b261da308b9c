import type { AcquireOptions, AsyncRateLimiter } from './async-rate-limiter.js';
import { requireDelay, requirePermitCount } from './checks.js';
import { promised } from './engine/promised.js';
import { throwIfAborted } from './queue/abort-subscription.js';
import { acquireWithTimeout } from './queue/wait-limit.js';
import type { RateLimitLease } from './rate-limit-lease.js';
import type { RateLimiterStatistics } from './rate-limiter-statistics.js';

const BRAND = Symbol.for('ratelease.rate-limiter');

/**
 * A limiter that can answer at once. The public methods check their arguments and then call the protected
 * `...Core` ones, so that a limiter of your own has to decide and nothing else.
 *
 * Override the protected methods, not the public ones: what `attemptAcquire` and `acquire` of a subclass do counts
 * for those who call them. A chain takes from the limiters of this package without them, and asks a subclass only
 * where that has its own `attemptAcquireCore`, `acquireCore`, `acquireWithin` or `assertAcquirable`.
 *
 * `tryReplenish`, `isAutoReplenishing` and `replenishmentPeriodMs` are here so that any limiter can be asked;
 * {@link ReplenishingRateLimiter} gives them their meaning.
 */
export abstract class RateLimiter implements AsyncRateLimiter, Disposable {
  /**
   * Asks for permits and never waits.
   *
   * @param permitCount - integer of at least 0, at most the limit; 0 asks without taking. Default 1.
   * @returns a granted lease, or a refused one that says in its metadata when to come back or why.
   * @throws RangeError | TypeError - a count that is no such integer (`ERR_RL_INVALID_PERMIT_COUNT`) or above
   * the limit (`ERR_RL_PERMIT_COUNT_ABOVE_LIMIT`).
   * @throws ObjectDisposedError - after {@link RateLimiter.dispose}.
   */
  attemptAcquire(permitCount: number = 1): RateLimitLease {
    const permits = requirePermitCount(permitCount);
    this.assertAcquirable(permits);
    return this.attemptAcquireCore(permits);
  }

  /** See {@link AsyncRateLimiter.acquire}. */
  acquire(permitCount: number = 1, options?: AcquireOptions): Promise<RateLimitLease> {
    try {
      const permits = requirePermitCount(permitCount);
      this.assertAcquirable(permits);
      const signal = options?.signal;
      if (signal !== undefined) throwIfAborted(signal);
      const maxWaitMs = options?.maxWaitMs;
      if (maxWaitMs === undefined || maxWaitMs === Infinity)
        return promised(this.acquireCore(permits, signal), this);
      requireDelay('acquire', 'maxWaitMs', maxWaitMs, 'or Infinity');
      return promised(this.acquireWithin(permits, maxWaitMs, signal), this);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** A snapshot of the counters, or `null` where the limiter keeps none. */
  abstract getStatistics(): RateLimiterStatistics | null;

  /** Milliseconds since all permits were back and nobody waited, never negative; `null` while in use. */
  abstract get idleDurationMs(): number | null;

  /**
   * Applies what is due where the limiter does not do so by itself.
   * @returns `true` when something was applied; a limiter that replenishes nothing, or by itself, says `false`.
   */
  tryReplenish(): boolean {
    return false;
  }

  /** Whether permits come back without calls of {@link RateLimiter.tryReplenish}. */
  get isAutoReplenishing(): boolean {
    return true;
  }

  /** Milliseconds between two replenishments; `Infinity` where nothing is replenished. */
  get replenishmentPeriodMs(): number {
    return Infinity;
  }

  /** Ends the limiter; see {@link AsyncRateLimiter.dispose}. A second call does nothing. */
  dispose(): void {
    // A limiter that keeps no queue and no timer has nothing to end.
  }

  /** The same as {@link RateLimiter.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** The same as {@link RateLimiter.dispose}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
  }

  /**
   * Throws for a request that cannot be considered: a count above the limit, then a disposed limiter. It is
   * called before an aborted signal is looked at. By default every request can be.
   *
   * @param _permitCount - an integer of at least 0.
   */
  protected assertAcquirable(_permitCount: number): void {
    // Only a limiter knows its limit and its end.
  }

  /**
   * Decides now.
   * @param permitCount - an integer of at least 0 that {@link RateLimiter.assertAcquirable} let through.
   */
  protected abstract attemptAcquireCore(permitCount: number): RateLimitLease;

  /**
   * Decides now or later.
   * @param permitCount - an integer of at least 0 that {@link RateLimiter.assertAcquirable} let through.
   * @param signal - not aborted yet; an abort must reject with its reason and leave nothing behind.
   */
  protected abstract acquireCore(permitCount: number, signal?: AbortSignal): Promise<RateLimitLease>;

  /**
   * Decides within `maxWaitMs`. The default aborts {@link RateLimiter.acquireCore} when the time is over, and
   * measures it on the system's clock.
   */
  protected acquireWithin(
    permitCount: number,
    maxWaitMs: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease> {
    return acquireWithTimeout((own) => this.acquireCore(permitCount, own), maxWaitMs, signal);
  }

  /** Recognises the limiters of another loaded copy of this package as well. */
  static [Symbol.hasInstance](this: abstract new (...args: never) => unknown, value: unknown): boolean {
    if (this !== (RateLimiter as unknown)) return Function.prototype[Symbol.hasInstance].call(this, value);
    return isRateLimiter(value);
  }
}

Object.defineProperty(RateLimiter.prototype, BRAND, { value: true });

/** Whether a value is a limiter that can answer at once, also one of another loaded copy of this package. */
export function isRateLimiter(value: unknown): value is RateLimiter {
  return typeof value === 'object' && value !== null && BRAND in value;
}
