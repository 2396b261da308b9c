import type { AcquireOptions } from '../async-rate-limiter.js';
import { hasEnded, isEnded } from '../chained/chain-end.js';
import type { ChainParticipant } from '../chained/chain-participant.js';
import { chainParticipants, participantsOf } from '../chained/chain-participant.js';
import { decidesLike, waitsOtherwise } from '../engine/participants.js';
import { show, typeError } from '../errors.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import { isRateLimiter, RateLimiter } from '../rate-limiter.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import { replenishingBrand, ReplenishingRateLimiter } from '../replenishing-rate-limiter.js';
import { whenEnded } from './when-ended.js';

/**
 * Another limiter, with a lifetime that its keeper decides: it is never idle until it is disposed, and then it
 * is idle for ever. So its partition is never thrown away before, and at the next occasion afterwards.
 */
export class ManagedLifetimeLimiter extends RateLimiter {
  readonly #inner: RateLimiter;
  #onEnd: (() => void) | null = null;
  #isDisposed = false;

  /** @throws TypeError `ERR_RL_INVALID_ARGUMENT` - when the inner one isn't a limiter. */
  constructor(inner: RateLimiter) {
    super();
    if (!isRateLimiter(inner)) {
      throw typeError(
        'ERR_RL_INVALID_ARGUMENT',
        `A ManagedLifetimeLimiter needs a RateLimiter, but got ${show(inner)}.`,
      );
    }
    this.#inner = inner;
  }

  /** Whether it counts as a {@link ReplenishingRateLimiter}: if the inner one does. */
  get [replenishingBrand](): boolean {
    return this.#inner instanceof ReplenishingRateLimiter;
  }

  /** @internal Ended itself, or what it manages is a chain that has ended. */
  get [hasEnded](): boolean {
    return this.#isDisposed || isEnded(this.#inner);
  }

  /** The limiter whose lifetime is managed. @internal */
  get inner(): RateLimiter {
    return this.#inner;
  }

  /** `null` while it lives, `Infinity` once it is disposed. */
  override get idleDurationMs(): number | null {
    return this.#isDisposed ? Infinity : null;
  }

  override get isAutoReplenishing(): boolean {
    return this.#inner.isAutoReplenishing;
  }

  override get replenishmentPeriodMs(): number {
    return this.#inner.replenishmentPeriodMs;
  }

  override tryReplenish(): boolean {
    return this.#inner.tryReplenish();
  }

  override getStatistics(): RateLimiterStatistics | null {
    return this.#inner.getStatistics();
  }

  override attemptAcquire(permitCount: number = 1): RateLimitLease {
    return this.#decides ? super.attemptAcquire(permitCount) : this.#inner.attemptAcquire(permitCount);
  }

  override acquire(permitCount: number = 1, options?: AcquireOptions): Promise<RateLimitLease> {
    return this.#decides ? super.acquire(permitCount, options) : this.#inner.acquire(permitCount, options);
  }

  /** Ends the limiter together with the inner one. */
  override dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    // First it leaves the partitions, so that no request meets a disposed limiter.
    this.#onEnd?.();
    this.#onEnd = null;
    this.#inner.dispose();
  }

  /** Those of the inner limiter. Once disposed, none: a request that still waits elsewhere must not keep the partition. */
  [chainParticipants](): readonly ChainParticipant[] | null {
    return this.#isDisposed || this.#decides ? null : participantsOf(this.#inner);
  }

  /** @internal */
  [whenEnded](listener: () => void): void {
    this.#onEnd = listener;
  }

  protected override attemptAcquireCore(permitCount: number): RateLimitLease {
    return this.#inner.attemptAcquire(permitCount);
  }

  protected override acquireCore(permitCount: number, signal?: AbortSignal): Promise<RateLimitLease> {
    return this.#inner.acquire(permitCount, { signal });
  }

  protected override acquireWithin(
    permitCount: number,
    maxWaitMs: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease> {
    if (waitsOtherwise(this, ManagedLifetimeLimiter.prototype))
      return super.acquireWithin(permitCount, maxWaitMs, signal);
    return this.#inner.acquire(permitCount, { maxWaitMs, signal });
  }

  /** Whether a subclass has put decisions of its own in the place of the inner limiter's. */
  get #decides(): boolean {
    return !decidesLike(this, ManagedLifetimeLimiter.prototype);
  }
}
