import { ConcurrencyLimiter, partitionOf, PartitionedRateLimiter, TranslatingRateLimiter } from '../index.js';
import type { AsyncRateLimiter, RateLimiterStatistics, RateLimitLease } from '../index.js';

/** A partitioned limiter of another maker, with a limiter for each resource. */
class Foreign extends PartitionedRateLimiter<number> {
  readonly #limiters = new Map<number, ConcurrencyLimiter>();

  override getStatistics(resource: number): RateLimiterStatistics {
    return this.#of(resource).getStatistics();
  }

  override dispose(): void {
    for (const limiter of this.#limiters.values()) limiter.dispose();
  }

  protected override attemptAcquireCore(resource: number, permits: number): RateLimitLease {
    return this.#of(resource).attemptAcquire(permits);
  }

  protected override acquireCore(resource: number, permits: number): Promise<RateLimitLease> {
    return this.#of(resource).acquire(permits);
  }

  #of(resource: number): ConcurrencyLimiter {
    const limiter = this.#limiters.get(resource) ?? new ConcurrencyLimiter({ permitLimit: resource });
    this.#limiters.set(resource, limiter);
    return limiter;
  }
}

/** What a limiter over one of another maker hands out for a resource, for a chain. */
function standFor(foreign: Foreign, resource: number): AsyncRateLimiter {
  return new TranslatingRateLimiter(foreign, Number, false)[partitionOf](resource) as AsyncRateLimiter;
}

describe('what stands in a chain for a resource of a partitioned limiter of another maker', () => {
  it('tells the statistics of that resource', async () => {
    const foreign = new Foreign();
    const stand = standFor(foreign, 3);
    expect((await stand.acquire(2)).isAcquired).toBe(true);
    expect(stand.getStatistics()).toMatchObject({ currentAvailablePermits: 1, totalSuccessfulLeases: 1 });
    expect(stand.getStatistics()).toEqual(foreign.getStatistics(3));
    expect(foreign.getStatistics(2).currentAvailablePermits).toBe(2);
  });

  it('owns nothing: its end is not that of the limiter', async () => {
    const foreign = new Foreign();
    const stand = standFor(foreign, 3);
    await stand.dispose();
    await stand[Symbol.asyncDispose]();
    expect((await stand.acquire(3)).isAcquired).toBe(true);
    expect(foreign.attemptAcquire(3).isAcquired).toBe(false);
  });
});
