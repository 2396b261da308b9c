import { FakeClock } from '../testing/index.js';
import { FixedWindowRateLimiter, SlidingWindowRateLimiter, TokenBucketRateLimiter } from '../index.js';
import type { RateLimiter, RateLimitLease, TokenBucketRateLimiterOptions } from '../index.js';

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

  it('is no bound for what is served afterwards in one go', () => {
    const clock = new FakeClock();
    const options = { permitLimit: 999, windowMs: 1000, queueLimit: 2000, clock };
    const limiter = new FixedWindowRateLimiter(options);
    limiter.attemptAcquire(999);
    for (let waiting = 0; waiting < 1009; waiting++) void limiter.acquire();
    clock.advance(1000);
    expect(limiter.getStatistics().currentQueuedCount).toBe(10);
    limiter.updateOptions({ permitLimit: 1009 });
    expect(limiter.getStatistics().currentQueuedCount).toBe(0);
  });
});

describe('a second batch', () => {
  const rates: Record<string, (limit: number, clock: FakeClock) => RateLimiter> = {
    'fixed window': (permitLimit, clock) =>
      new FixedWindowRateLimiter({ permitLimit, windowMs: 1000, queueLimit: permitLimit, clock }),
    'sliding window': (permitLimit, clock) =>
      new SlidingWindowRateLimiter({
        permitLimit,
        windowMs: 1000,
        segmentsPerWindow: 2,
        queueLimit: permitLimit,
        clock,
      }),
    'interval bucket': (limit, clock) => new TokenBucketRateLimiter(bucket('interval', limit, clock)),
    'greedy bucket': (limit, clock) => new TokenBucketRateLimiter(bucket('greedy', limit, clock)),
  };
  const bucket = (
    refill: 'greedy' | 'interval',
    limit: number,
    clock: FakeClock,
  ): TokenBucketRateLimiterOptions => ({
    tokenLimit: limit,
    tokensPerPeriod: limit,
    replenishmentPeriodMs: 1000,
    queueLimit: limit,
    refill,
    clock,
  });
  /** Has spent everything, and so many wait, for whom everything comes back in a second. */
  const exhausted = (
    create: (limit: number, clock: FakeClock) => RateLimiter,
    { limit, waiting }: { limit: number; waiting: number },
  ): { clock: FakeClock; limiter: RateLimiter; waits: Promise<RateLimitLease>[] } => {
    const clock = new FakeClock();
    const limiter = create(limit, clock);
    limiter.attemptAcquire(limit);
    return { clock, limiter, waits: Array.from({ length: waiting }, () => limiter.acquire()) };
  };

  it.each(Object.entries(rates))('of a %s follows at once', async (_kind, create) => {
    const { clock, limiter, waits } = exhausted(create, { limit: 1500, waiting: 1500 });
    clock.skip(1000);
    clock.advance(0);
    expect(limiter.getStatistics()!.currentQueuedCount).toBe(0);
    expect((await Promise.all(waits)).every((lease) => lease.isAcquired)).toBe(true);
  });

  it.each(Object.entries(rates))(
    'of a %s follows at once where it is one request for the last permit',
    async (_kind, create) => {
      const { clock, limiter, waits } = exhausted(create, { limit: 1001, waiting: 1001 });
      clock.skip(1000);
      clock.advance(0);
      expect(limiter.getStatistics()!.currentQueuedCount).toBe(0);
      expect((await waits.at(-1)!).isAcquired).toBe(true);
    },
  );

  it.each(Object.entries(rates))(
    'of a %s is no wait for a newcomer for whom there is enough behind it',
    async (_kind, create) => {
      const { clock, limiter, waits } = exhausted(create, { limit: 1500, waiting: 1499 });
      // Set later than the limiter's own: it comes between the first batch and the second.
      let newcomer: Promise<RateLimitLease> | undefined;
      clock.setTimer(() => void (newcomer = limiter.acquire(1, { maxWaitMs: 1 })), 1000);
      clock.skip(1000);
      clock.advance(0);
      expect((await newcomer)?.isAcquired).toBe(true);
      expect((await waits.at(-1)!).isAcquired).toBe(true);
      expect(limiter.getStatistics()).toMatchObject({ currentQueuedCount: 0, currentAvailablePermits: 0 });
    },
  );
});
