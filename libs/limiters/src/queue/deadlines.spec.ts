import { ConcurrencyLimiter, createChainedRateLimiter, MetadataName } from '../index.js';
import { FakeClock } from '../testing/index.js';

const full = (clock: FakeClock): ConcurrencyLimiter => {
  const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1, clock });
  limiter.attemptAcquire();
  return limiter;
};

describe('a deadline at a fraction of a millisecond', () => {
  // The sum of such a beginning and such a wait is often a bit more than what the clock reads at that moment.
  it.each([
    [612.349, 923],
    [494.410726, 24],
    [0.1, 0.2],
    [12_345_678.000001, 999.999999],
  ])('that began at %p and lasts %p milliseconds is met in one step', async (beginMs, maxWaitMs) => {
    const clock = new FakeClock(beginMs);
    const [limiter, inChain] = [full(clock), full(clock)];
    const waiting = [limiter, createChainedRateLimiter(inChain)].map((one) => one.acquire(1, { maxWaitMs }));
    clock.advance(maxWaitMs - 0.000001);
    expect([limiter, inChain].map((one) => one.getStatistics().currentQueuedCount)).toEqual([1, 1]);
    clock.advance(0.000001);
    expect([limiter, inChain].map((one) => one.getStatistics().currentQueuedCount)).toEqual([0, 0]);
    expect(clock.pendingTimers).toBe(0);
    for (const lease of await Promise.all(waiting))
      expect(lease.getMetadata(MetadataName.reasonPhrase)).toBe('Wait limit reached');
  });

  it('is met wherever it is', () => {
    for (let step = 0; step < 2_000; step++) {
      const clock = new FakeClock(step * 7.349_127);
      const limiter = full(clock);
      const maxWaitMs = 1 + ((step * 37) % 1_000);
      void limiter.acquire(1, { maxWaitMs });
      clock.advance(maxWaitMs);
      expect(limiter.getStatistics().currentQueuedCount).toBe(0);
    }
  });
});
