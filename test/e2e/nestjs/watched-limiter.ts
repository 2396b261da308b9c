import type { RateLimiterStatistics } from '@ratelease/limiters';
import { ConcurrencyLimiter, RateLimitPartition } from '@ratelease/limiters';
import type { Partitioner } from '@ratelease/nestjs';

/** A concurrency limiter behind a policy, whose state a test can look at. */
export class WatchedLimiter {
  readonly limiter: ConcurrencyLimiter;
  readonly #permitLimit: number;

  constructor(permitLimit: number, queueLimit = 0) {
    this.#permitLimit = permitLimit;
    this.limiter = new ConcurrencyLimiter({ permitLimit, queueLimit });
  }

  /** The policy: everybody shares the limiter. */
  get policy(): Partitioner<string> {
    return () => RateLimitPartition.get('watched', () => this.limiter);
  }

  get statistics(): RateLimiterStatistics {
    return this.limiter.getStatistics();
  }

  get held(): number {
    return this.#permitLimit - this.statistics.currentAvailablePermits;
  }

  get queued(): number {
    return this.statistics.currentQueuedCount;
  }
}
