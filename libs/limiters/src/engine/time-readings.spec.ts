import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  isRateLimitError,
  RateLimitPartition,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../index.js';
import type { Clock, RateLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';

/** A clock that reads whatever it is told to. */
class BrokenClock implements Clock {
  readonly #clock = new FakeClock();
  reading: unknown;

  constructor(reading: unknown) {
    this.reading = reading;
  }

  now(): number {
    return this.reading as number;
  }

  setTimer(callback: () => void, delayMs: number): ReturnType<FakeClock['setTimer']> {
    return this.#clock.setTimer(callback, delayMs);
  }

  get pendingTimers(): number {
    return this.#clock.pendingTimers;
  }
}

const window = { permitLimit: 2, windowMs: 1_000, queueLimit: 2 };
const bucket = { tokenLimit: 2, tokensPerPeriod: 1, replenishmentPeriodMs: 1_000, queueLimit: 2 };

const RATES: Record<string, (clock: Clock) => RateLimiter> = {
  'a fixed window': (clock) => new FixedWindowRateLimiter({ ...window, clock }),
  'a sliding window': (clock) => new SlidingWindowRateLimiter({ ...window, segmentsPerWindow: 4, clock }),
  'a greedy bucket': (clock) => new TokenBucketRateLimiter({ ...bucket, clock }),
  'an interval bucket': (clock) => new TokenBucketRateLimiter({ ...bucket, refill: 'interval', clock }),
};
const ALL: Record<string, (clock: Clock) => unknown> = {
  ...RATES,
  'a concurrency limiter': (clock) => new ConcurrencyLimiter({ permitLimit: 2, clock }),
  'a partitioned limiter': (clock) =>
    createPartitionedRateLimiter((key: string) => RateLimitPartition.getNoLimiter(key), { clock }),
};

function caught(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe.each(Object.entries(ALL))('%s is not made', (_kind, make) => {
  it.each([
    [NaN, RangeError, 'NaN'],
    [Infinity, RangeError, 'Infinity'],
    [-Infinity, RangeError, '-Infinity'],
    [undefined, TypeError, 'undefined (undefined)'],
    ['17', TypeError, '"17" (string)'],
    [17n, TypeError, '17n (bigint)'],
  ])('with a clock that reads %p', (reading, kind, shown) => {
    const error = caught(() => make(new BrokenClock(reading))) as Error;
    expect(error).toBeInstanceOf(kind);
    expect(isRateLimitError(error) && error.code).toBe('ERR_RL_INVALID_TIME');
    expect(error.message).toBe(
      `now() of a clock must return a finite number of milliseconds, but got ${shown}.`,
    );
  });
});

const NO_TIMES = [NaN, Infinity, -Infinity, undefined];
const INVALID = expect.objectContaining({ code: 'ERR_RL_INVALID_TIME' }) as Error;

describe.each(Object.entries(RATES))('%s whose clock fails later', (_kind, make) => {
  it.each(NO_TIMES)('decides nothing by a reading of %p, and goes on afterwards', async (reading) => {
    const clock = new BrokenClock(0);
    const limiter = make(clock);
    const chain = createChainedRateLimiter(new ConcurrencyLimiter({ permitLimit: 1, clock }), limiter);
    limiter.attemptAcquire();
    clock.reading = reading;
    expect(() => limiter.attemptAcquire()).toThrow(INVALID);
    await expect(limiter.acquire()).rejects.toThrow(INVALID);
    await expect(limiter.acquire(2, { maxWaitMs: 500 })).rejects.toThrow(INVALID);
    expect(() => chain.attemptAcquire()).toThrow(INVALID);
    clock.reading = 1;
    expect(limiter.getStatistics()).toEqual({
      currentAvailablePermits: 1,
      currentQueuedCount: 0,
      totalFailedLeases: 0,
      totalSuccessfulLeases: 1,
    });
    expect(chain.attemptAcquire().isAcquired).toBe(true);
  });
});

describe('a wait with a limit', () => {
  it.each(NO_TIMES)('does not begin at %p', async (reading) => {
    const clock = new BrokenClock(0);
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1, clock });
    const chain = createChainedRateLimiter(limiter);
    const held = limiter.attemptAcquire();
    clock.reading = reading;
    for (const one of [limiter, chain]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(one.acquire(1, { maxWaitMs: 500 })).rejects.toThrow(INVALID);
    }
    clock.reading = 1;
    expect(limiter.getStatistics()).toMatchObject({ currentQueuedCount: 0 });
    expect(clock.pendingTimers).toBe(0);
    held.dispose();
    expect([limiter.idleDurationMs, chain.idleDurationMs]).toEqual([0, 0]);
  });
});

it('a partition decides nothing by a reading that is no time, and is not thrown away by it', () => {
  const clock = new BrokenClock(0);
  const limiter = createPartitionedRateLimiter(
    (key: string) => RateLimitPartition.getFixedWindowLimiter(key, () => window),
    { clock },
  );
  limiter.attemptAcquire('a', 2);
  for (const reading of NO_TIMES) {
    clock.reading = reading;
    expect(() => limiter.attemptAcquire('a')).toThrow(INVALID);
  }
  clock.reading = 1;
  expect(limiter.attemptAcquire('a').isAcquired).toBe(false);
});
