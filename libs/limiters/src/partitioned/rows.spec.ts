import { createPartitionedRateLimiter, RateLimitPartition } from '../index.js';
import type { DefaultPartitionedRateLimiter, RateLimitPartition as Partition } from '../index.js';
import { FakeClock } from '../testing/index.js';

const window = { permitLimit: 3, windowMs: 300 };
const bucket = { tokenLimit: 3, tokensPerPeriod: 3, replenishmentPeriodMs: 300 };
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Each kind of limiter, as the helpers make it. */
const KINDS: Record<string, <K>(key: K) => Partition<K>> = {
  'concurrency limiters': (key) => RateLimitPartition.getConcurrencyLimiter(key, () => window),
  'fixed windows': (key) => RateLimitPartition.getFixedWindowLimiter(key, () => window),
  'sliding windows': (key) =>
    RateLimitPartition.getSlidingWindowLimiter(key, () => ({ ...window, segmentsPerWindow: 3 })),
  'greedy buckets': (key) => RateLimitPartition.getTokenBucketLimiter(key, () => bucket),
  'interval buckets': (key) =>
    RateLimitPartition.getTokenBucketLimiter(key, () => ({ ...bucket, refill: 'interval' as const })),
};

describe.each(Object.entries(KINDS))('%s side by side', (_kinds, partitionOf) => {
  it('leave each other alone, whoever comes and goes', () => {
    const clock = new FakeClock();
    // Objects have nothing of their keys between their numbers.
    const keys = Array.from({ length: 5 }, () => ({}));
    const limiter = createPartitionedRateLimiter((key: object) => partitionOf(key), {
      clock,
      idleTimeoutMs: 1_000,
    });
    for (const key of keys) limiter.attemptAcquire(key, 2).dispose();
    for (let round = 0; round < 8; round++) {
      clock.advance(400);
      // All but one stay in use; that one leaves, and its place is taken by another.
      for (const key of keys.slice(1)) limiter.attemptAcquire(key, 0);
      const held = keys.slice(1).map((key) => limiter.attemptAcquire(key, 1));
      for (const lease of held) lease.dispose();
    }
    expect(limiter.partitionCount).toBe(4);
    const statistics = (): unknown[] => keys.slice(1).map((key) => limiter.getStatistics(key));
    const before = statistics();
    limiter.attemptAcquire({}, 1);
    expect(limiter.partitionCount).toBe(5);
    expect(statistics()).toEqual(before);
  });

  it('count and limit each for itself', () => {
    const limiter = createPartitionedRateLimiter((key: number) => partitionOf(key), {
      clock: new FakeClock(),
    });
    for (let key = 0; key < 3; key++) {
      limiter.attemptAcquire(key, key + 1);
      limiter.attemptAcquire(key, 3);
    }
    expect([0, 1, 2].map((key) => limiter.getStatistics(key))).toEqual(
      [2, 1, 0].map((currentAvailablePermits) => ({
        currentAvailablePermits,
        currentQueuedCount: 0,
        totalSuccessfulLeases: 1,
        totalFailedLeases: 1,
      })),
    );
  });

  it('tell a request that asks for more than there can ever be, and count nothing', async () => {
    const limiter = createPartitionedRateLimiter((key: number) => partitionOf(key), {
      clock: new FakeClock(),
    });
    limiter.attemptAcquire(1);
    expect(() => limiter.attemptAcquire(1, 4)).toThrow(RangeError);
    await expect(limiter.acquire(1, 4)).rejects.toThrow(RangeError);
    expect(limiter.getStatistics(1)).toMatchObject({ currentAvailablePermits: 2, totalFailedLeases: 0 });
  });
});

describe('partitions whose numbers have changed', () => {
  function changing() {
    const clock = new FakeClock();
    const numbers = { permitLimit: 2, queueLimit: 1 };
    const limiter = createPartitionedRateLimiter(
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ ...numbers })),
      { clock, idleTimeoutMs: 1_000 },
    );
    // Not the first of its page.
    limiter.attemptAcquire('first', 2);
    return { clock, numbers, limiter };
  }

  it('keep their state for as long as it is needed, however often they are looked at', async () => {
    const { clock, numbers, limiter } = changing();
    const held = limiter.attemptAcquire('a', 2);
    numbers.permitLimit = 5;
    limiter.refreshOptions();
    const more = limiter.attemptAcquire('a', 2);
    expect(more.isAcquired).toBe(true);
    clock.advance(60_000);
    expect(limiter.getStatistics('a')).toMatchObject({
      currentAvailablePermits: 1,
      totalSuccessfulLeases: 2,
    });
    held.dispose();
    more.dispose();
    expect(limiter.getStatistics('a')).toMatchObject({ currentAvailablePermits: 5 });
    clock.advance(60_000);
    expect(limiter.partitionCount).toBe(1);
  });

  it('are as new once they have left', () => {
    const { clock, numbers, limiter } = changing();
    limiter.attemptAcquire('a').dispose();
    numbers.permitLimit = 5;
    limiter.refreshOptions();
    limiter.attemptAcquire('a', 5).dispose();
    clock.advance(60_000);
    numbers.permitLimit = 1;
    expect(() => limiter.attemptAcquire('a', 2)).toThrow(/limit of 1/);
    expect(limiter.getStatistics('a')).toMatchObject({
      currentAvailablePermits: 1,
      totalSuccessfulLeases: 0,
    });
  });

  it('serve who waits in them by the numbers of then', async () => {
    const { clock, numbers, limiter } = changing();
    const held = limiter.attemptAcquire('a', 2);
    const waiting = limiter.acquire('a');
    clock.advance(60_000);
    expect(limiter.getStatistics('a')!.currentQueuedCount).toBe(1);
    numbers.permitLimit = 3;
    limiter.refreshOptions();
    expect((await waiting).isAcquired).toBe(true);
    held.dispose();
    expect(limiter.getStatistics('a')).toMatchObject({ currentAvailablePermits: 2, currentQueuedCount: 0 });
  });
});

describe('a partition that somebody has waited in', () => {
  it('gives back to the same limit what was taken before, meanwhile and after', async () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 2, queueLimit: 3 })),
      { clock, idleTimeoutMs: 1_000 },
    );
    const leases = [limiter.attemptAcquire('a'), limiter.attemptAcquire('a')];
    const waits = [limiter.acquire('a'), limiter.acquire('a')];
    await settled();
    clock.advance(60_000);
    leases[0]!.dispose();
    leases.push(await waits[0]!);
    expect(limiter.attemptAcquire('a').isAcquired).toBe(false);
    leases[1]!.dispose();
    leases.push(await waits[1]!);
    // Nobody waits any more, and the place is tidied up.
    clock.advance(60_000);
    expect(limiter.getStatistics('a')).toEqual({
      currentAvailablePermits: 0,
      currentQueuedCount: 0,
      totalSuccessfulLeases: 4,
      totalFailedLeases: 1,
    });
    for (const lease of leases) lease.dispose();
    expect(limiter.getStatistics('a')!.currentAvailablePermits).toBe(2);
    clock.advance(60_000);
    expect(limiter.partitionCount).toBe(0);
  });
});

describe('partitions that rows have no room for', () => {
  const grants = (limiter: DefaultPartitionedRateLimiter<number, number>, key: number): boolean[] =>
    [1, 1, 1].map((permits) => limiter.attemptAcquire(key, permits).isAcquired);

  it.each<[string, { segmentsPerWindow: number; clock?: FakeClock; autoReplenishment?: boolean }]>([
    ['a hundred segments', { segmentsPerWindow: 100 }],
    ['a clock of their own', { segmentsPerWindow: 2, clock: new FakeClock() }],
    ['no replenishment by themselves', { segmentsPerWindow: 2, autoReplenishment: false }],
  ])('decide the same: with %s', (_what, more) => {
    const clock = more.clock ?? new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: number) =>
        RateLimitPartition.getSlidingWindowLimiter(key, () => ({ permitLimit: 2, windowMs: 100, ...more })),
      { clock },
    );
    expect(grants(limiter, 1)).toEqual([true, true, false]);
    expect(grants(limiter, 2)).toEqual([true, true, false]);
    clock.advance(100);
    expect(grants(limiter, 1)).toEqual([true, true, false]);
  });

  it('decide the same: with numbers of their own each', () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: number) =>
        RateLimitPartition.getFixedWindowLimiter(key, () => ({ permitLimit: 2, windowMs: 100 + key })),
      { clock, idleTimeoutMs: 1_000 },
    );
    for (let key = 0; key < 40; key++) expect(grants(limiter, key)).toEqual([true, true, false]);
    clock.advance(120);
    for (let key = 0; key < 40; key++) expect(limiter.attemptAcquire(key, 2).isAcquired).toBe(key <= 20);
    clock.advance(2_000);
    expect(limiter.partitionCount).toBe(0);
  });
});
