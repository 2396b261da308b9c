import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  RateLimitPartition,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../index.js';
import type { RateLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';

describe('the quota of a lease', () => {
  it('of a concurrency limiter has no window and no reset', () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 5 });
    const [entry] = limiter.attemptAcquire(2).quota();
    expect(entry).toMatchObject({ limit: 5, remaining: 3 });
    expect(entry?.windowMs).toBeUndefined();
    expect(entry?.resetAfterMs).toBeUndefined();
  });

  it('of a fixed window resets at the boundary', () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({ permitLimit: 5, windowMs: 1_000, clock });
    clock.advance(250);
    const entry = { limit: 5, windowMs: 1_000, resetAfterMs: 750 };
    expect(limiter.attemptAcquire(2).quota()).toMatchObject([{ ...entry, remaining: 3 }]);
    expect(limiter.attemptAcquire(4).quota()).toMatchObject([{ ...entry, remaining: 3 }]);
  });

  it('of a sliding window resets when the last segment has come back', () => {
    const clock = new FakeClock();
    const options = { permitLimit: 5, windowMs: 1_000, segmentsPerWindow: 10, clock };
    const limiter = new SlidingWindowRateLimiter(options);
    limiter.attemptAcquire(1);
    clock.advance(350);
    expect(limiter.attemptAcquire(1).quota()).toMatchObject([
      { limit: 5, remaining: 3, windowMs: 1_000, resetAfterMs: 950 },
    ]);
  });

  it('of a bucket has the time to fill an empty one as its window', () => {
    const clock = new FakeClock();
    const numbers = { tokenLimit: 10, tokensPerPeriod: 4, replenishmentPeriodMs: 1_000, clock };
    expect(new TokenBucketRateLimiter(numbers).attemptAcquire(5).quota()).toMatchObject([
      { limit: 10, remaining: 5, windowMs: 2_500, resetAfterMs: 1_250 },
    ]);
    const interval = new TokenBucketRateLimiter({ ...numbers, refill: 'interval' });
    expect(interval.attemptAcquire(5).quota()).toMatchObject([
      { limit: 10, remaining: 5, windowMs: 3_000, resetAfterMs: 2_000 },
    ]);
  });

  it('is as of the decision, whenever it is asked for', () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({ permitLimit: 5, windowMs: 1_000, clock });
    const lease = limiter.attemptAcquire(2);
    limiter.attemptAcquire(3);
    clock.advance(5_000);
    limiter.updateOptions({ permitLimit: 50 });
    lease.dispose();
    expect(lease.quota()).toMatchObject([{ limit: 5, remaining: 3, resetAfterMs: 1_000 }]);
  });

  it('is never below nothing, also under a lowered limit', () => {
    const limiter = new FixedWindowRateLimiter({ permitLimit: 5, windowMs: 1_000, clock: new FakeClock() });
    limiter.attemptAcquire(5);
    limiter.updateOptions({ permitLimit: 2 });
    expect(limiter.attemptAcquire().quota()).toMatchObject([{ limit: 2, remaining: 0 }]);
  });

  const spent = {
    permitLimit: 5,
    windowMs: 1_000,
    tokenLimit: 5,
    tokensPerPeriod: 5,
    replenishmentPeriodMs: 1_000,
  };
  it.each<[string, (byHand: { autoReplenishment: false; clock: FakeClock }) => RateLimiter]>([
    ['a fixed window', (byHand) => new FixedWindowRateLimiter({ ...spent, ...byHand })],
    [
      'a sliding window',
      (byHand) => new SlidingWindowRateLimiter({ ...spent, segmentsPerWindow: 2, ...byHand }),
    ],
    ['a greedy bucket', (byHand) => new TokenBucketRateLimiter({ ...spent, ...byHand })],
    [
      'an interval bucket',
      (byHand) => new TokenBucketRateLimiter({ ...spent, refill: 'interval', ...byHand }),
    ],
  ])('of %s that nobody has replenished in time has its reset now, not in the past', (_kind, make) => {
    const clock = new FakeClock();
    const limiter = make({ autoReplenishment: false, clock });
    limiter.attemptAcquire(5);
    clock.advance(1_500);
    const refused = limiter.attemptAcquire(5);
    expect(refused.quota()).toMatchObject([{ remaining: 0, resetAfterMs: 0 }]);
    expect(refused.getMetadata(MetadataName.retryAfter)).toBe(1);
  });

  it('of a chain has an entry for each limiter, whichever refused', () => {
    const clock = new FakeClock();
    const running = new ConcurrencyLimiter({ permitLimit: 5, clock });
    const rate = new FixedWindowRateLimiter({ permitLimit: 2, windowMs: 1_000, clock });
    const chain = createChainedRateLimiter(running, rate);
    expect(chain.attemptAcquire(2).quota()).toMatchObject([
      { limit: 5, remaining: 3, member: 0 },
      { limit: 2, remaining: 0, windowMs: 1_000, resetAfterMs: 1_000, member: 1 },
    ]);
    const refused = chain.attemptAcquire(1);
    expect(refused.isAcquired).toBe(false);
    expect(refused.quota()).toMatchObject([
      { limit: 5, remaining: 3, member: 0 },
      { limit: 2, remaining: 0, member: 1 },
    ]);
  });

  it('of a request that waited is that of its grant', async () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({ permitLimit: 3, windowMs: 1_000, queueLimit: 3, clock });
    limiter.attemptAcquire(3);
    const waiting = limiter.acquire(2);
    clock.advance(1_000);
    expect((await waiting).quota()).toMatchObject([{ limit: 3, remaining: 1, resetAfterMs: 1_000 }]);
  });

  it('of no limit is none', () => {
    const { factory, partitionKey } = RateLimitPartition.getNoLimiter('key');
    expect(factory(partitionKey).attemptAcquire().quota()).toEqual([]);
  });
});
