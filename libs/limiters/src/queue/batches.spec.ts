import { FakeClock } from '../testing/index.js';
import { FixedWindowRateLimiter, SlidingWindowRateLimiter, TokenBucketRateLimiter } from '../index.js';
import type { RateLimiter } from '../index.js';

describe('service of many waiters at one boundary', () => {
  const COUNT = 10_000;

  it('comes in batches, one timer callback each, so that others get the event loop in between', async () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({
      permitLimit: COUNT,
      windowMs: 1000,
      queueLimit: COUNT,
      clock,
    });
    limiter.attemptAcquire(COUNT);
    const waits = Array.from({ length: COUNT }, () => limiter.acquire());
    const queued: number[] = [];
    const spy = jest.spyOn(clock, 'setTimer');
    clock.advance(1000);
    for (const _call of spy.mock.calls) queued.push(_call[1]);
    expect(queued.length).toBeGreaterThanOrEqual(9);
    expect(queued.every((delayMs) => delayMs === 0)).toBe(true);
    const leases = await Promise.all(waits);
    expect(leases.every((lease) => lease.isAcquired)).toBe(true);
    expect(limiter.getStatistics()).toMatchObject({ currentQueuedCount: 0, currentAvailablePermits: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('lets no newcomer pass between two batches', async () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({
      permitLimit: 1500,
      windowMs: 1000,
      queueLimit: 1500,
      clock,
    });
    limiter.attemptAcquire(1500);
    const waits = Array.from({ length: 1500 }, () => limiter.acquire());
    const setTimer = clock.setTimer.bind(clock);
    const newcomers: boolean[] = [];
    jest.spyOn(clock, 'setTimer').mockImplementation((callback, delayMs) => {
      if (delayMs === 0) newcomers.push(limiter.attemptAcquire().isAcquired);
      return setTimer(callback, delayMs);
    });
    clock.advance(1000);
    expect(newcomers).toEqual([false]);
    expect((await Promise.all(waits)).every((lease) => lease.isAcquired)).toBe(true);
  });

  it('is not too late for those of a later batch whose time ends with the window', async () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({
      permitLimit: 1500,
      windowMs: 1000,
      queueLimit: 1500,
      clock,
    });
    limiter.attemptAcquire(1500);
    const waits = Array.from({ length: 1500 }, () => limiter.acquire(1, { maxWaitMs: 1000 }));
    clock.advance(1000);
    expect((await Promise.all(waits)).filter((lease) => !lease.isAcquired)).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a second batch', () => {
  const options = { permitLimit: 1500, windowMs: 1000, queueLimit: 1500 };
  const bucket = { tokenLimit: 1500, tokensPerPeriod: 1500, replenishmentPeriodMs: 1000, queueLimit: 1500 };
  const rates: Record<string, (clock: FakeClock) => RateLimiter> = {
    'sliding window': (clock) => new SlidingWindowRateLimiter({ ...options, segmentsPerWindow: 2, clock }),
    'interval bucket': (clock) => new TokenBucketRateLimiter({ ...bucket, refill: 'interval', clock }),
  };

  it.each(Object.entries(rates))('of a %s follows at once', async (_kind, create) => {
    const clock = new FakeClock();
    const limiter = create(clock);
    limiter.attemptAcquire(1500);
    const waits = Array.from({ length: 1500 }, () => limiter.acquire());
    clock.advance(1000);
    expect(limiter.getStatistics()!.currentQueuedCount).toBe(0);
    expect((await Promise.all(waits)).every((lease) => lease.isAcquired)).toBe(true);
  });
});
