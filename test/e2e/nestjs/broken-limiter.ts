import { RateLimiter } from '@ratelease/limiters';
import type { RateLimiterStatistics, RateLimitLease } from '@ratelease/limiters';

/** A limiter whose store is broken. */
export class BrokenLimiter extends RateLimiter {
  readonly #wait: ((signal?: AbortSignal) => Promise<unknown>) | undefined;

  /** @param wait - how long it takes to notice. */
  constructor(wait?: (signal?: AbortSignal) => Promise<unknown>) {
    super();
    this.#wait = wait;
  }

  override get idleDurationMs(): number | null {
    return null;
  }

  override getStatistics(): RateLimiterStatistics {
    return {
      currentAvailablePermits: 0,
      currentQueuedCount: 0,
      totalFailedLeases: 0,
      totalSuccessfulLeases: 0,
    };
  }

  override dispose(): void {
    // It has nothing.
  }

  protected override attemptAcquireCore(): RateLimitLease {
    throw new Error('the store is broken');
  }

  protected override async acquireCore(_permitCount: number, signal?: AbortSignal): Promise<RateLimitLease> {
    await this.#wait?.(signal);
    throw new Error('the store is broken');
  }
}
