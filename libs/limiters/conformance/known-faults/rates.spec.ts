import {
  FixedWindowRateLimiter,
  MetadataName,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../../src/index.js';
import type { RateLimiter, RateLimitLease } from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** How many of so many single requests are granted. */
function granted(limiter: RateLimiter, requests: number): number {
  return Array.from({ length: requests }, () => limiter.attemptAcquire()).filter(
    ({ isAcquired }) => isAcquired,
  ).length;
}

describe('a burst of twice the limit at the edge of a window', () => {
  const second = 1_000;
  const atEdge = (limiter: RateLimiter, clock: FakeClock): number[] => {
    clock.advance(999);
    const before = granted(limiter, 100);
    clock.advance(1);
    return [before, granted(limiter, 100)];
  };

  it('is what a fixed window allows, as its documentation says', () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({ permitLimit: 100, windowMs: second, clock });
    expect(atEdge(limiter, clock)).toEqual([100, 100]);
    expect(granted(limiter, 1)).toBe(0);
  });

  it('is what a sliding window prevents', () => {
    const clock = new FakeClock();
    const limiter = new SlidingWindowRateLimiter({
      permitLimit: 100,
      windowMs: second,
      segmentsPerWindow: 10,
      clock,
    });
    expect(atEdge(limiter, clock)).toEqual([100, 0]);
    clock.advance(899);
    expect(granted(limiter, 1)).toBe(0);
    clock.advance(1);
    expect(granted(limiter, 101)).toBe(100);
  });

  it('is what a greedy bucket prevents, and an interval bucket allows', () => {
    const numbers = { tokenLimit: 100, tokensPerPeriod: 100, replenishmentPeriodMs: second };
    const [greedyClock, intervalClock] = [new FakeClock(), new FakeClock()];
    expect(atEdge(new TokenBucketRateLimiter({ ...numbers, clock: greedyClock }), greedyClock)).toEqual([
      100, 0,
    ]);
    const interval = new TokenBucketRateLimiter({ ...numbers, refill: 'interval', clock: intervalClock });
    expect(atEdge(interval, intervalClock)).toEqual([100, 100]);
  });
});

describe('the wall clock used as elapsed time', () => {
  it('neither drains a bucket when it is set back nor fills it when it is set forward', () => {
    const limiter = new TokenBucketRateLimiter({
      tokenLimit: 10,
      tokensPerPeriod: 1,
      replenishmentPeriodMs: 3_600_000,
    });
    expect(limiter.attemptAcquire(3).isAcquired).toBe(true);
    const wallClock = jest.spyOn(Date, 'now');
    wallClock.mockReturnValue(Date.now() - 11_000);
    expect(limiter.attemptAcquire().isAcquired).toBe(true);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(6);
    wallClock.mockReturnValue(Date.now() + 3_600_000);
    expect(granted(limiter, 7)).toBe(6);
    wallClock.mockRestore();
  });
});

describe('a remainder dropped on refill', () => {
  it('starves no poller of a slow bucket', () => {
    const clock = new FakeClock();
    const limiter = new TokenBucketRateLimiter({
      tokenLimit: 1,
      tokensPerPeriod: 1,
      replenishmentPeriodMs: 10_000,
      clock,
    });
    limiter.attemptAcquire();
    const grantedAt: number[] = [];
    for (let second = 1; second <= 60; second++) {
      clock.advance(1_000);
      if (limiter.attemptAcquire().isAcquired) grantedAt.push(second);
    }
    expect(grantedAt).toEqual([10, 20, 30, 40, 50, 60]);
  });

  it('starves no poller of a bucket with fractions between the polls', () => {
    const clock = new FakeClock();
    const limiter = new TokenBucketRateLimiter({
      tokenLimit: 2,
      tokensPerPeriod: 2,
      replenishmentPeriodMs: 1_000,
      clock,
    });
    limiter.attemptAcquire(2);
    let count = 0;
    for (let poll = 0; poll < 100; poll++) {
      clock.advance(100);
      count += granted(limiter, 1);
    }
    expect(count).toBe(20);
  });
});

describe('drift of the reset', () => {
  it('is none after 10,000 windows whose calls each came 5 ms late', () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, clock });
    for (let window = 0; window < 10_000; window++) {
      clock.advance(window === 0 ? 1_005 : 1_000);
      limiter.attemptAcquire();
    }
    expect(limiter.attemptAcquire().getMetadata(MetadataName.retryAfter)).toBe(995);
  });
});

describe('refused requests that are counted', () => {
  it('would lock out who keeps trying: they are not', () => {
    const clock = new FakeClock();
    const limiter = new SlidingWindowRateLimiter({
      permitLimit: 10,
      windowMs: 60_000,
      segmentsPerWindow: 60,
      clock,
    });
    let count = 0;
    for (let attempt = 0; attempt < 1_200; attempt++) {
      count += granted(limiter, 1);
      clock.advance(500);
    }
    expect(count).toBeGreaterThanOrEqual(100);
    expect(count).toBeLessThanOrEqual(110);
  });
});

describe('a wrong hint in RETRY_AFTER', () => {
  const create = (more: object, clock: FakeClock): TokenBucketRateLimiter =>
    new TokenBucketRateLimiter({
      tokenLimit: 1,
      tokensPerPeriod: 1,
      replenishmentPeriodMs: 1_000,
      queueLimit: 3,
      clock,
      ...more,
    });

  it.each([
    ['all waiters, where the oldest is served first', { queueProcessingOrder: 'oldestFirst' }, 4_000],
    ['nobody, where the newest is', { queueProcessingOrder: 'newestFirst' }, 1_000],
    ['all waiters, also where somebody has to replenish', { autoReplenishment: false }, 4_000],
  ])('counts before the request %s', (_whom, more, expected) => {
    const clock = new FakeClock();
    const limiter = create(more, clock);
    limiter.attemptAcquire();
    for (let waiter = 0; waiter < 3; waiter++) void limiter.acquire();
    expect(limiter.attemptAcquire().getMetadata(MetadataName.retryAfter)).toBe(expected);
    limiter.dispose();
  });
});

describe('a waiter that goes on without a permit', () => {
  it.each([
    ['one jump', [10_000]],
    ['ten jumps', Array.from({ length: 10 }, () => 1_000)],
  ])('is none: ten seconds in %s serve ten', async (_how, jumps) => {
    const clock = new FakeClock();
    const limiter = new TokenBucketRateLimiter({
      tokenLimit: 1,
      tokensPerPeriod: 1,
      replenishmentPeriodMs: 1_000,
      queueLimit: 100,
      clock,
    });
    limiter.attemptAcquire();
    const served: RateLimitLease[] = [];
    for (let waiter = 0; waiter < 100; waiter++) void limiter.acquire().then((lease) => served.push(lease));
    for (const ms of jumps) clock.advance(ms);
    await settled();
    expect(served).toHaveLength(10);
    limiter.dispose();
  });
});
