import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  MetadataName,
  TokenBucketRateLimiter,
} from '../index.js';
import type { TokenBucketRateLimiterOptions } from '../index.js';
import { FakeClock } from '../testing/index.js';

const DAY = 86_400_000;
const MAX = Number.MAX_SAFE_INTEGER;

/** At a time since the construction a request, whether it is granted, and the wait that a refusal names. */
type Row = [atMs: number, permits: number, granted: boolean, retryAfterMs?: number];
type Numbers = [tokenLimit: number, tokensPerPeriod: number, replenishmentPeriodMs: number];

function create(
  [tokenLimit, tokensPerPeriod, replenishmentPeriodMs]: Numbers,
  more: Partial<TokenBucketRateLimiterOptions> = {},
): { clock: FakeClock; limiter: TokenBucketRateLimiter } {
  const clock = new FakeClock(12_345);
  const numbers = { tokenLimit, tokensPerPeriod, replenishmentPeriodMs };
  return { clock, limiter: new TokenBucketRateLimiter({ ...numbers, clock, ...more }) };
}

function play(
  { clock, limiter }: ReturnType<typeof create>,
  rows: readonly Row[],
): (readonly [boolean, number | undefined])[] {
  return rows.map(([atMs, permits]) => {
    clock.advance(12_345 + atMs - clock.now());
    const lease = limiter.attemptAcquire(permits);
    return [lease.isAcquired, lease.getMetadata(MetadataName.retryAfter)] as const;
  });
}

const expected = (rows: readonly Row[]): unknown =>
  rows.map(([, , granted, retryAfterMs]) => [granted, retryAfterMs]);

describe('the greedy token bucket', () => {
  const tables: Record<string, [Numbers, Row[]]> = {
    'starts full and fills continuously': [
      [10, 10, 1_000],
      [
        [0, 10, true],
        [99, 1, false, 1],
        [100, 1, true],
        [350, 3, false, 50],
        [400, 3, true],
      ],
    ],
    'gathers nothing while it is full': [
      [2, 1, 100],
      [
        [1_000_000, 2, true],
        [1_000_000, 1, false, 100],
        [1_000_099, 1, false, 1],
        [1_000_100, 1, true],
      ],
    ],
    'counts a fraction of a token as none': [
      [1, 1, 100],
      [
        [0, 1, true],
        [99.999, 1, false, 1],
        [99.999, 0, false, 1],
        [100, 0, true],
      ],
    ],
    'adds ten tenths up to one': [
      [1, 1, 10],
      [[0, 1, true], ...Array.from({ length: 9 }, (_, i): Row => [i + 1, 1, false, 9 - i]), [10, 1, true]],
    ],
    'adds three thirds up to one': [
      [1, 1, 1],
      [
        [0, 1, true],
        [1 / 3, 1, false, 1],
        [2 / 3, 1, false, 1],
        [1, 1, true],
      ],
    ],
    'brings a token at the first nanosecond that has it': [
      [3, 3, 1_000],
      [
        [0, 3, true],
        [333.333_333, 1, false, 1],
        [333.333_334, 1, true],
        [666.666_667, 1, true],
        [1_000, 1, true],
      ],
    ],
    'keeps the greatest numbers exact': [
      [MAX, MAX, MAX],
      [
        [0, MAX, true],
        [1, 2, false, 1],
        [2, 2, true],
        [2, 1, false, 1],
      ],
    ],
    'fills a great bucket in no time without losing count': [
      [MAX, MAX, 0.001],
      [
        [0, MAX, true],
        [0.000_001, MAX, false, 1],
        [0.001, MAX, true],
      ],
    ],
    'waits longer than a native timer can: a token in 40 days': [
      [1, 1, 40 * DAY],
      [
        [0, 1, true],
        [1, 1, false, 40 * DAY - 1],
        [40 * DAY - 1, 1, false, 1],
        [40 * DAY, 1, true],
      ],
    ],
    'waits longer than 2^53 nanoseconds: twelve tokens a year': [
      [12, 12, 360 * DAY],
      [
        [0, 12, true],
        [30 * DAY - 1, 1, false, 1],
        [30 * DAY, 1, true],
        [360 * DAY, 11, true],
      ],
    ],
    'names the time for many tokens of a slow rate': [
      [1e12, 1, 60_000],
      [
        [0, 1e12, true],
        [0, 1e12, false, 6e16],
      ],
    ],
  };

  it.each(Object.entries(tables))('%s', (_behaviour, [numbers, rows]) => {
    expect(play(create(numbers), rows)).toEqual(expected(rows));
  });

  it('credits nothing twice when the clock steps back', () => {
    const { clock, limiter } = create([10, 1, 1_000]);
    limiter.attemptAcquire(10);
    clock.advance(5_000);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(5);
    clock.advance(-3_000);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(5);
    expect(limiter.attemptAcquire(6).getMetadata(MetadataName.retryAfter)).toBe(4_000);
    clock.advance(3_999);
    expect(limiter.attemptAcquire(6).isAcquired).toBe(false);
    clock.advance(1);
    expect(limiter.attemptAcquire(6).isAcquired).toBe(true);
  });

  it('serves a poller as often as the rate says', () => {
    const { clock, limiter } = create([1, 1, 10_000]);
    limiter.attemptAcquire();
    let granted = 0;
    for (let second = 1; second <= 60; second++) {
      clock.advance(1_000);
      if (limiter.attemptAcquire().isAcquired) granted++;
    }
    expect(granted).toBe(6);
  });
});

describe('the interval token bucket', () => {
  const tables: Record<string, [Numbers, Row[]]> = {
    'gets all tokens of a period at its end': [
      [10, 4, 1_000],
      [
        [0, 10, true],
        [999, 1, false, 1],
        [1_000, 5, false, 1_000],
        [1_000, 4, true],
        [3_000, 8, true],
        [3_500, 9, false, 2_500],
      ],
    ],
    'caps each time': [
      [5, 4, 100],
      [
        [0, 5, true],
        [1_000, 5, true],
        [1_000, 1, false, 100],
        [1_050, 5, false, 150],
      ],
    ],
    'keeps its boundaries while it is full': [
      [1, 1, 100],
      [
        [1_050, 1, true],
        [1_099, 1, false, 1],
        [1_100, 1, true],
      ],
    ],
    'keeps the greatest numbers exact': [
      [MAX, MAX - 1, 1_000],
      [
        [0, MAX, true],
        [1_000, MAX, false, 1_000],
        [1_000, MAX - 1, true],
      ],
    ],
    'jumps over periods without number': [
      [MAX, 1, 0.001],
      [
        [0, MAX, true],
        [1, 1_000, true],
        [1, MAX, false, 9_007_199_254_741],
      ],
    ],
    'waits longer than a native timer can: 40 days': [
      [1, 1, 40 * DAY],
      [
        [0, 1, true],
        [40 * DAY - 1, 1, false, 1],
        [40 * DAY, 1, true],
      ],
    ],
  };

  it.each(Object.entries(tables))('%s', (_behaviour, [numbers, rows]) => {
    expect(play(create(numbers, { refill: 'interval' }), rows)).toEqual(expected(rows));
  });

  it('credits nothing twice when the clock steps back', () => {
    const { clock, limiter } = create([2, 1, 100], { refill: 'interval' });
    limiter.attemptAcquire(2);
    clock.advance(100);
    expect(limiter.attemptAcquire(1).isAcquired).toBe(true);
    clock.advance(-60);
    expect(limiter.attemptAcquire(1).getMetadata(MetadataName.retryAfter)).toBe(160);
    clock.advance(160);
    expect(limiter.attemptAcquire(1).isAcquired).toBe(true);
    expect(limiter.attemptAcquire(1).isAcquired).toBe(false);
  });
});

describe.each(['greedy', 'interval'] as const)('the %s token bucket replenished by hand', (refill) => {
  it('changes only when it is told to, and then applies all that is due', () => {
    const { clock, limiter } = create([10, 5, 100], { refill, autoReplenishment: false });
    limiter.attemptAcquire(10);
    clock.advance(150);
    expect(limiter.attemptAcquire().isAcquired).toBe(false);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(0);
    expect(limiter.tryReplenish()).toBe(true);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(refill === 'greedy' ? 7 : 5);
    expect(limiter.tryReplenish()).toBe(false);
  });

  it('gathers nothing while it is full, also when nobody asks', () => {
    const { clock, limiter } = create([10, 10, 100], { refill, autoReplenishment: false });
    clock.advance(60_000);
    expect(limiter.tryReplenish()).toBe(false);
    limiter.attemptAcquire(10);
    expect(limiter.tryReplenish()).toBe(false);
    clock.advance(100);
    expect(limiter.tryReplenish()).toBe(true);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(10);
  });

  it('keeps the time that has passed when more is taken from a bucket that is not full', () => {
    const { clock, limiter } = create([10, 1, 100], { refill, autoReplenishment: false });
    limiter.attemptAcquire(5);
    clock.advance(150);
    limiter.attemptAcquire(5);
    clock.advance(50);
    expect(limiter.tryReplenish()).toBe(true);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(2);
  });

  it('keeps it also when a chain takes', () => {
    const { clock, limiter } = create([10, 1, 100], { refill, autoReplenishment: false });
    const chain = createChainedRateLimiter(new ConcurrencyLimiter({ permitLimit: 10, clock }), limiter);
    chain.attemptAcquire(5);
    clock.advance(150);
    chain.attemptAcquire(5);
    clock.advance(50);
    expect(limiter.tryReplenish()).toBe(true);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(2);
  });
});
