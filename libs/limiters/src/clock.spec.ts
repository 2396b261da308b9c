import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
  systemClock,
  TokenBucketRateLimiter,
} from './index.js';

/** Lets what was promised settle, whatever timers are faked. */
async function settle(): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one turn after the other
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

describe('the system’s clock', () => {
  it('never goes back', () => {
    const readings = Array.from({ length: 1_000 }, () => systemClock.now());
    expect(readings).toEqual([...readings].sort((a, b) => a - b));
  });

  it('doesn’t go by the time of day', () => {
    const limiter = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 3_600_000 });
    limiter.attemptAcquire();
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 1e12);
    expect(limiter.attemptAcquire().isAcquired).toBe(false);
    now.mockRestore();
  });

  it('forgets a timer that is cancelled, also one that has fired', async () => {
    const fired = await new Promise<{ cancel(): void }>((resolve) => {
      const timer = systemClock.setTimer(() => resolve(timer), 0);
    });
    expect(() => fired.cancel()).not.toThrow();
    const cancelled = systemClock.setTimer(() => {
      throw new Error('it fired');
    }, 0);
    cancelled.cancel();
    await new Promise<void>((resolve) => void systemClock.setTimer(resolve, 1));
  });
});

describe('fake timers of the test runner, with no clock injected', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('move windows and buckets', () => {
    const window = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 60_000 });
    const numbers = { tokenLimit: 2, tokensPerPeriod: 1, replenishmentPeriodMs: 1_000 };
    const bucket = new TokenBucketRateLimiter(numbers);
    window.attemptAcquire();
    bucket.attemptAcquire(2);
    jest.advanceTimersByTime(1_000);
    expect(bucket.attemptAcquire().isAcquired).toBe(true);
    expect(window.attemptAcquire().isAcquired).toBe(false);
    jest.advanceTimersByTime(59_000);
    expect(window.attemptAcquire().isAcquired).toBe(true);
  });

  it.each([
    ['dates', ['setTimeout']],
    ['timers', ['Date']],
  ] as const)('move a window that is older, also where but %s are faked with performance', (_, real) => {
    jest.useRealTimers();
    const window = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 60_000 });
    window.attemptAcquire();
    const nowMs = performance.now();
    jest.useFakeTimers({ doNotFake: [...real] });
    // It begins at 0.
    jest.advanceTimersByTime(nowMs + 60_000);
    expect(window.attemptAcquire().isAcquired).toBe(true);
    expect(window.attemptAcquire().isAcquired).toBe(false);
    jest.advanceTimersByTime(60_000);
    expect(window.attemptAcquire().isAcquired).toBe(true);
  });

  it('move windows, older and newer, also where all but performance is faked', () => {
    jest.useRealTimers();
    const numbers = { permitLimit: 1, windowMs: 60_000 };
    const older = new FixedWindowRateLimiter(numbers);
    older.attemptAcquire();
    jest.useFakeTimers({ doNotFake: ['performance'], now: 0 });
    const newer = new FixedWindowRateLimiter(numbers);
    newer.attemptAcquire();
    jest.advanceTimersByTime(59_000);
    expect([older, newer].map((window) => window.attemptAcquire().isAcquired)).toEqual([false, false]);
    jest.advanceTimersByTime(1_000);
    expect([older, newer].map((window) => window.attemptAcquire().isAcquired)).toEqual([true, true]);
    jest.useRealTimers();
    expect(older.attemptAcquire().isAcquired).toBe(false);
  });

  it('end bounded waits on the millisecond where all but performance is faked, whenever that begins', async () => {
    for (let round = 0; round < 50; round++) {
      jest.useRealTimers();
      jest.useFakeTimers({ doNotFake: ['performance'], now: 0 });
      const realMs = Math.ceil(performance.now());
      // A sum beyond the next power of two has a digit less.
      const maxWaitMs = 2 ** Math.ceil(Math.log2(realMs)) - realMs + 2;
      const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
      limiter.attemptAcquire();
      let ended = false;
      const wait = limiter.acquire(1, { maxWaitMs }).then(() => (ended = true));
      jest.advanceTimersByTime(maxWaitMs - 1);
      // oxlint-disable-next-line no-await-in-loop -- one round after the other
      await settle();
      expect(ended).toBe(false);
      jest.advanceTimersByTime(1);
      // oxlint-disable-next-line no-await-in-loop -- as above
      await wait;
    }
  });

  it('serve waiters at the exact time', async () => {
    const limiter = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 60_000, queueLimit: 1 });
    limiter.attemptAcquire();
    let isServed = false;
    const waiting = limiter.acquire().then(() => (isServed = true));
    jest.advanceTimersByTime(59_999);
    await settle();
    expect(isServed).toBe(false);
    jest.advanceTimersByTime(1);
    await waiting;
    expect(isServed).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('serve waiters beyond 2^31 ms, not before', async () => {
    const windowMs = 40 * 86_400_000;
    const limiter = new FixedWindowRateLimiter({ permitLimit: 1, windowMs, queueLimit: 1 });
    limiter.attemptAcquire();
    let isServed = false;
    const waiting = limiter.acquire().then(() => (isServed = true));
    jest.advanceTimersByTime(windowMs - 1);
    await settle();
    expect(isServed).toBe(false);
    jest.advanceTimersByTime(1);
    await waiting;
    expect(isServed).toBe(true);
  });

  it('end bounded waits and idle partitions', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
    limiter.attemptAcquire();
    const waiting = limiter.acquire(1, { maxWaitMs: 500 });
    const partitions = createPartitionedRateLimiter((key: string) =>
      RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })),
    );
    partitions.attemptAcquire('a').dispose();
    jest.advanceTimersByTime(500);
    expect((await waiting).isAcquired).toBe(false);
    jest.advanceTimersByTime(10_300);
    expect(partitions.partitionCount).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('leave no timer while nobody waits', () => {
    const limiter = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 60_000, queueLimit: 1 });
    limiter.attemptAcquire();
    limiter.attemptAcquire();
    expect(jest.getTimerCount()).toBe(0);
  });
});
