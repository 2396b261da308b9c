import { FixedWindowRateLimiter, SlidingWindowRateLimiter, TokenBucketRateLimiter } from '../index.js';
import type { RateLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const bucket = { tokenLimit: 3, tokensPerPeriod: 3, replenishmentPeriodMs: 300, queueLimit: 5 };
const window = { permitLimit: 3, windowMs: 300, queueLimit: 5 };
const LIMITERS: Record<string, (clock: FakeClock) => RateLimiter> = {
  'a fixed window': (clock) => new FixedWindowRateLimiter({ ...window, clock }),
  'a sliding window': (clock) => new SlidingWindowRateLimiter({ ...window, segmentsPerWindow: 3, clock }),
  'a greedy bucket': (clock) => new TokenBucketRateLimiter({ ...bucket, clock }),
  'a greedy bucket with numbers beyond 2^53': (clock) =>
    new TokenBucketRateLimiter({
      ...bucket,
      tokensPerPeriod: 2 ** 45 + 1,
      replenishmentPeriodMs: 2 ** 45,
      clock,
    }),
  'an interval bucket': (clock) => new TokenBucketRateLimiter({ ...bucket, refill: 'interval', clock }),
};

/** The event loop is blocked while the time comes at which a waiter can go. */
async function blockedWith(limiter: RateLimiter, clock: FakeClock, permits: number): Promise<string[]> {
  const served: string[] = [];
  limiter.attemptAcquire(3);
  void limiter.acquire(permits).then(() => served.push('who waited'));
  await settled();
  clock.skip(300);
  return served;
}

describe.each(Object.entries(LIMITERS))(
  'who waits in %s, after the event loop was blocked',
  (_kind, create) => {
    it.each([1, 2, 3])(
      'for %d permits is served by whoever looks first, without the timer',
      async (permits) => {
        const clock = new FakeClock();
        const limiter = create(clock);
        const served = await blockedWith(limiter, clock, permits);
        expect(limiter.getStatistics()).toMatchObject({
          currentQueuedCount: 0,
          currentAvailablePermits: 3 - permits,
        });
        await settled();
        expect(served).toEqual(['who waited']);
        expect(clock.pendingTimers).toBe(0);
      },
    );

    it('comes before a newcomer', async () => {
      const clock = new FakeClock();
      const limiter = create(clock);
      const served = await blockedWith(limiter, clock, 3);
      expect(limiter.attemptAcquire().isAcquired).toBe(false);
      await settled();
      expect(served).toEqual(['who waited']);
    });
  },
);

describe('part of the time', () => {
  it.each([
    ['greedy bucket', (clock: FakeClock) => new TokenBucketRateLimiter({ ...bucket, clock })],
    [
      'sliding window',
      (clock: FakeClock) => new SlidingWindowRateLimiter({ ...window, segmentsPerWindow: 3, clock }),
    ],
  ])('serves those of a %s for whom it is enough', async (kind, create) => {
    const clock = new FakeClock();
    const limiter = create(clock);
    const served: number[] = [];
    for (let step = 0; step < 3; step++) {
      limiter.attemptAcquire();
      if (kind === 'sliding window') clock.advance(100);
    }
    for (let waiter = 0; waiter < 3; waiter++) void limiter.acquire().then(() => served.push(waiter));
    await settled();
    const before = served.length;
    clock.skip(100);
    expect(limiter.getStatistics()).toMatchObject({ currentQueuedCount: 2 - before });
    await settled();
    expect(served).toHaveLength(before + 1);
    limiter.dispose();
  });
});
