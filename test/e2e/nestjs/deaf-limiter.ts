import { ConcurrencyLimiter, RateLimiter } from '@ratelease/limiters';
import type { RateLimiterStatistics, RateLimitLease } from '@ratelease/limiters';

/** A limiter of an application's own, which lets wait and doesn't listen to the signal. */
export class DeafLimiter extends RateLimiter {
  readonly limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 10 });

  override get idleDurationMs(): number | null {
    return null;
  }

  override getStatistics(): RateLimiterStatistics {
    return this.limiter.getStatistics();
  }

  override dispose(): void {
    // What waits is served in the end.
  }

  get held(): number {
    return 1 - this.getStatistics().currentAvailablePermits;
  }

  get queued(): number {
    return this.getStatistics().currentQueuedCount;
  }

  protected override attemptAcquireCore(permitCount: number): RateLimitLease {
    return this.limiter.attemptAcquire(permitCount);
  }

  protected override acquireCore(permitCount: number): Promise<RateLimitLease> {
    return this.limiter.acquire(permitCount);
  }
}
