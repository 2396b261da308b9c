import type { AcquireOptions, AsyncPartitionedRateLimiter, AsyncRateLimiter } from '../async-rate-limiter.js';
import { partitionOf } from '../chained/chain-participant.js';
import type { Instant } from '../chained/instant.js';
import { asyncOnly } from '../errors.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';

/** A partitioned limiter that answers at once, or one that doesn't. */
type AnyPartitioned<TResource> = AsyncPartitionedRateLimiter<TResource> & {
  attemptAcquire?(resource: TResource, permitCount?: number): RateLimitLease;
};

/** A foreign partitioned limiter together with one resource: what stands for its partition in a chain. */
export class BoundLimiter<TResource> implements AsyncRateLimiter {
  readonly idleDurationMs = null;
  readonly #limiter: AnyPartitioned<TResource>;
  readonly #resource: TResource;

  constructor(limiter: AsyncPartitionedRateLimiter<TResource>, resource: TResource) {
    this.#limiter = limiter;
    this.#resource = resource;
  }

  /** @throws TypeError `ERR_RL_ASYNC_ONLY` - when the limiter can't answer at once. */
  attemptAcquire(permitCount: number): RateLimitLease {
    if (this.#limiter.attemptAcquire === undefined) throw asyncOnly(this.#limiter);
    return this.#limiter.attemptAcquire(this.#resource, permitCount);
  }

  acquire(permitCount?: number, options?: AcquireOptions): Promise<RateLimitLease> {
    return this.#limiter.acquire(this.#resource, permitCount, options);
  }

  getStatistics(): RateLimiterStatistics | null {
    return this.#limiter.getStatistics(this.#resource);
  }

  dispose(): void {
    // It owns nothing: the limiter belongs to whoever made it.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The same.
  }
}

/**
 * The limiter behind a resource, or the refusal to have one; runs the partitioner at most once.
 *
 * @param instant - the moment to look the partition up at, where it is that of a decision on several.
 */
export function partitionLimiterOf<TResource>(
  limiter: AsyncPartitionedRateLimiter<TResource>,
  resource: TResource,
  instant?: Instant,
): AsyncRateLimiter | RateLimitLease {
  const resolve = (limiter as unknown as Record<symbol, unknown>)[partitionOf];
  if (typeof resolve !== 'function') return new BoundLimiter(limiter, resource);
  return resolve.call(limiter, resource, instant) as AsyncRateLimiter | RateLimitLease;
}
