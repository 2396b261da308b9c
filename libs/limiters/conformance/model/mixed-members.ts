import { ConcurrencyLimiter, PartitionedRateLimiter } from '../../src/index.js';
import type { RateLimiterStatistics, RateLimitLease, StoredLease } from '../../src/index.js';
import type { Visit } from '../linked/visits.js';
import { Session } from '../linked/visits.js';

/** How many wait at most in each limiter of a mixed trial. */
export const QUEUE_LIMIT = 40;

/** A partitioned limiter of another maker: it knows nothing of chains. */
export class Foreign extends PartitionedRateLimiter<Visit> {
  readonly inner: ConcurrencyLimiter;

  constructor(permitLimit: number) {
    super();
    this.inner = new ConcurrencyLimiter({ permitLimit, queueLimit: QUEUE_LIMIT });
  }

  override getStatistics(): RateLimiterStatistics {
    return this.inner.getStatistics();
  }

  protected override attemptAcquireCore(_visit: Visit, permits: number): RateLimitLease {
    return this.inner.attemptAcquire(permits);
  }

  protected override acquireCore(
    _visit: Visit,
    permits: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease> {
    return this.inner.acquire(permits, { signal });
  }
}

/** A session in whose store something else happens. */
export class BusySession extends Session {
  readonly #happen: () => void;

  constructor(happen: () => void) {
    super();
    this.#happen = happen;
  }

  protected override trySetLease(lease: RateLimitLease): StoredLease {
    this.#happen();
    const stored = super.trySetLease(lease);
    this.#happen();
    return stored;
  }
}
