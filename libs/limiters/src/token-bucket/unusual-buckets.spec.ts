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

describe('a greedy bucket of which the counts pass 2^53 on the way', () => {
  const MAX = Number.MAX_SAFE_INTEGER;
  const waitFor = (limiter: TokenBucketRateLimiter, permits: number): number | undefined =>
    limiter.attemptAcquire(permits).getMetadata(MetadataName.retryAfter);

  it('names the wait behind a queue to the nanosecond', () => {
    // Three tokens a nanosecond; 2^53 - 1 are waited for, and with those asked for it is an odd number above 2^53.
    const { limiter } = create({
      tokenLimit: MAX,
      tokensPerPeriod: 3e6,
      replenishmentPeriodMs: 1,
      queueLimit: MAX,
    });
    limiter.attemptAcquire(MAX);
    void limiter.acquire(MAX);
    const ms = 3_002_399_752;
    expect(waitFor(limiter, ms * 3e6 - MAX)).toBe(ms);
    expect(waitFor(limiter, ms * 3e6 - MAX + 1)).toBe(ms + 1);
  });

  it('counts the part of a token that is there towards the wait behind a queue', () => {
    // Three tokens in two nanoseconds; after one there are one and a half.
    const { clock, limiter } = create({
      tokenLimit: MAX,
      tokensPerPeriod: 3e6,
      replenishmentPeriodMs: 2,
      queueLimit: MAX,
    });
    for (const permits of [1, 1, 1, 1, MAX - 4]) limiter.attemptAcquire(permits);
    void limiter.acquire(MAX);
    clock.advance(0.000_001);
    const ms = 6_004_799_504;
    expect(waitFor(limiter, ms * 1.5e6 - MAX + 1)).toBe(ms);
    expect(waitFor(limiter, ms * 1.5e6 - MAX + 3)).toBe(ms + 1);
  });

  it('names the wait for its own tokens to the nanosecond', () => {
    // A third of the period, 1,286,799,900,857,143 ns, for each; seven take a third of a nanosecond more than these ms.
    const { limiter } = create({
      tokenLimit: 7,
      tokensPerPeriod: 3,
      replenishmentPeriodMs: 1_286_799_900.857_143,
    });
    limiter.attemptAcquire(7);
    expect(waitFor(limiter, 7)).toBe(3_002_533_103);
  });

  it('brings a token in the nanosecond in which it is whole, and none before', () => {
    const { clock, limiter } = create({
      tokenLimit: 25,
      tokensPerPeriod: 3,
      replenishmentPeriodMs: 1_000_000_000.000_001,
    });
    limiter.attemptAcquire(25);
    for (let refusal = 0; refusal < 6; refusal++) limiter.attemptAcquire(1);
    clock.advance(7_000_000_000.000_007);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(21);
  });

  it('is full since the nanosecond that filled it', () => {
    const { clock, limiter } = create({
      tokenLimit: 21,
      tokensPerPeriod: 3,
      replenishmentPeriodMs: 1_000_000_000.000_001,
    });
    limiter.attemptAcquire(21);
    clock.advance(7_000_000_001);
    expect(limiter.idleDurationMs).toBe(0.999_993);
  });
});
