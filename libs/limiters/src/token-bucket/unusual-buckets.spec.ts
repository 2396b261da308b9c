import { MetadataName, TokenBucketRateLimiter } from '../index.js';
import type { TokenBucketRateLimiterOptions } from '../index.js';
import { FakeClock } from '../testing/index.js';

function create(options: TokenBucketRateLimiterOptions): {
  clock: FakeClock;
  limiter: TokenBucketRateLimiter;
} {
  const clock = new FakeClock();
  return { clock, limiter: new TokenBucketRateLimiter({ ...options, clock }) };
}

describe.each(['greedy', 'interval'] as const)('the %s token bucket when the clock steps back', (refill) => {
  it('credits no time again in which it became full', () => {
    const { clock, limiter } = create({
      tokenLimit: 10,
      tokensPerPeriod: 1,
      replenishmentPeriodMs: 100,
      refill,
    });
    limiter.attemptAcquire(9);
    clock.advance(1_000);
    expect(limiter.idleDurationMs).toBe(100);
    clock.advance(-500);
    limiter.attemptAcquire(10);
    // The time up to 900 has brought what was just taken.
    expect(limiter.attemptAcquire(1).getMetadata(MetadataName.retryAfter)).toBe(500);
    clock.advance(499);
    expect(limiter.attemptAcquire(1).isAcquired).toBe(false);
    clock.advance(1);
    expect(limiter.attemptAcquire(1).isAcquired).toBe(true);
  });
});

describe('a greedy bucket whose numbers pass 2^53', () => {
  // A token a millisecond, and a hair more.
  const numbers = { tokenLimit: 3, tokensPerPeriod: 2 ** 45 + 1, replenishmentPeriodMs: 2 ** 45 };

  it('is never fuller than full', () => {
    const { clock, limiter } = create(numbers);
    limiter.attemptAcquire(2);
    clock.advance(3);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(3);
    expect(limiter.idleDurationMs).toBe(1);
  });

  it('serves whoever one of its tokens is enough for', async () => {
    const { clock, limiter } = create({ ...numbers, queueLimit: 5 });
    limiter.attemptAcquire(3);
    const served: number[] = [];
    for (const permits of [1, 2]) void limiter.acquire(permits).then(() => served.push(permits));
    clock.skip(1);
    expect(limiter.getStatistics().currentQueuedCount).toBe(2);
    clock.skip(2);
    expect(limiter.getStatistics().currentQueuedCount).toBe(0);
    await Promise.resolve();
    expect(served).toEqual([1, 2]);
  });
});
