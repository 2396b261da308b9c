import {
  ConcurrencyLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';

describe('a limit of zero that silently means no limit', () => {
  const window = { permitLimit: 1, windowMs: 1 };
  const bucket = { tokenLimit: 1, tokensPerPeriod: 1, replenishmentPeriodMs: 1 };

  it.each([
    ['permitLimit', () => new ConcurrencyLimiter({ permitLimit: 0 })],
    ['permitLimit', () => new FixedWindowRateLimiter({ ...window, permitLimit: 0 })],
    ['windowMs', () => new FixedWindowRateLimiter({ ...window, windowMs: 0 })],
    ['segmentsPerWindow', () => new SlidingWindowRateLimiter({ ...window, segmentsPerWindow: 0 })],
    ['tokenLimit', () => new TokenBucketRateLimiter({ ...bucket, tokenLimit: 0 })],
    ['tokensPerPeriod', () => new TokenBucketRateLimiter({ ...bucket, tokensPerPeriod: 0 })],
    ['replenishmentPeriodMs', () => new TokenBucketRateLimiter({ ...bucket, replenishmentPeriodMs: 0 })],
  ])('is an error that names %s', (option, create) => {
    expect(create).toThrow(RangeError);
    expect(create).toThrow(option);
  });
});

describe('an environment variable that turns into a number that limits nothing', () => {
  it.each([Number('ten'), Number.parseInt('', 10), Number('Infinity')])('is an error: %p', (permitLimit) => {
    expect(() => new ConcurrencyLimiter({ permitLimit })).toThrow(RangeError);
    expect(() => new FixedWindowRateLimiter({ permitLimit: 1, windowMs: permitLimit })).toThrow(RangeError);
  });

  it.each(['10', '', '1m'])('is an error as the text %p', (text) => {
    expect(() => new ConcurrencyLimiter({ permitLimit: text as never })).toThrow(TypeError);
    expect(() => new FixedWindowRateLimiter({ permitLimit: 1, windowMs: text as never })).toThrow(TypeError);
  });
});

describe('a number that is none, or none that makes sense', () => {
  const window = { permitLimit: 1, windowMs: 1, segmentsPerWindow: 1, queueLimit: 0 };
  const bucket = { tokenLimit: 1, tokensPerPeriod: 1, replenishmentPeriodMs: 1, queueLimit: 0 };
  const limiters: Record<string, readonly [options: object, create: (options: never) => unknown]> = {
    concurrency: [{ permitLimit: 1, queueLimit: 0 }, (options) => new ConcurrencyLimiter(options)],
    'fixed window': [
      { permitLimit: 1, windowMs: 1, queueLimit: 0 },
      (options) => new FixedWindowRateLimiter(options),
    ],
    'sliding window': [window, (options) => new SlidingWindowRateLimiter(options)],
    'token bucket': [bucket, (options) => new TokenBucketRateLimiter(options)],
  };
  const cases = Object.entries(limiters).flatMap(([kind, [options, create]]) =>
    Object.keys(options).map((option) => ({ kind, option, options, create })),
  );

  it.each(cases)(
    'is an error that names $option of a $kind and what it got',
    ({ option, options, create }) => {
      const build = (value: unknown) => () => create({ ...options, [option]: value } as never);
      const isDuration = option.endsWith('Ms');
      // A duration has no greatest value, and may be a fraction.
      const outOfRange = isDuration ? [NaN, Infinity, -1, 0] : [NaN, Infinity, -1, 0.5, 2 ** 53];
      for (const value of outOfRange) {
        expect(build(value)).toThrow(RangeError);
        expect(build(value)).toThrow(new RegExp(`${option}.*${value}`));
      }
      for (const value of ['10', '', null]) {
        expect(build(value)).toThrow(TypeError);
        expect(build(value)).toThrow(option);
      }
    },
  );
});

describe('numbers that overflow', () => {
  const greatest = Number.MAX_SAFE_INTEGER;

  it('lose nothing up to 2^53 - 1', () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: greatest });
    for (let call = 0; call < 3; call++) expect(limiter.attemptAcquire().isAcquired).toBe(true);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(greatest - 3);
    expect(limiter.attemptAcquire(greatest).isAcquired).toBe(false);
  });

  it.each([2 ** 53, 1e308])('are an error beyond: %p', (permitLimit) => {
    expect(() => new ConcurrencyLimiter({ permitLimit })).toThrow(/permitLimit/);
  });

  it('of waiters that ask for more than 2^53 together are summed exactly', () => {
    const clock = new FakeClock();
    const limiter = new TokenBucketRateLimiter({
      tokenLimit: greatest,
      tokensPerPeriod: greatest,
      replenishmentPeriodMs: 1_000,
      queueLimit: greatest,
      clock,
    });
    limiter.attemptAcquire(greatest);
    void limiter.acquire(greatest);
    expect(limiter.attemptAcquire(greatest).getMetadata(MetadataName.retryAfter)).toBe(2_000);
    limiter.dispose();
  });
});

describe('sums that overflow', () => {
  it('lose nothing of what is there, in what they have to wait for', () => {
    const tokenLimit = Number.MAX_SAFE_INTEGER;
    const clock = new FakeClock();
    const limiter = new TokenBucketRateLimiter({
      tokenLimit,
      tokensPerPeriod: tokenLimit,
      replenishmentPeriodMs: 1_000,
      queueLimit: tokenLimit,
      clock,
    });
    limiter.attemptAcquire(2 ** 52 + 2 ** 40);
    void limiter.acquire(tokenLimit);
    // Twice the limit, of which a little less than half is there: 1500.1 ms.
    expect(limiter.attemptAcquire(tokenLimit).getMetadata(MetadataName.retryAfter)).toBe(1_501);
    clock.advance(250);
    expect(limiter.attemptAcquire(tokenLimit).getMetadata(MetadataName.retryAfter)).toBe(1_251);
    limiter.dispose();
  });
});

describe('a queue that is on by default', () => {
  it('is not: without a queueLimit nobody waits', async () => {
    const limiter = new FixedWindowRateLimiter({ permitLimit: 2, windowMs: 10_000, clock: new FakeClock() });
    const leases = await Promise.all([limiter.acquire(), limiter.acquire(), limiter.acquire()]);
    expect(leases.map(({ isAcquired }) => isAcquired)).toEqual([true, true, false]);
  });

  it.each([Infinity, -1, NaN])('can’t be without a bound: %p', (queueLimit) => {
    expect(() => new ConcurrencyLimiter({ permitLimit: 1, queueLimit })).toThrow(/queueLimit/);
  });
});
