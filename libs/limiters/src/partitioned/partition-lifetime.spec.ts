import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  RateLimitPartition,
} from '../index.js';
import type { Clock, DefaultPartitionedRateLimiter, PartitionedRateLimiterOptions } from '../index.js';
import { FakeClock } from '../testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

type Partitions = DefaultPartitionedRateLimiter<string, string>;

/** Partitions of three running at once, and what became of their limiters. */
function running(clock: FakeClock, more: PartitionedRateLimiterOptions<string> = {}): Partitions {
  return createPartitionedRateLimiter(
    (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 3, queueLimit: 3 })),
    { clock, idleTimeoutMs: 1_000, ...more },
  );
}

/** Partitions of three an hour. */
function hourly(clock: FakeClock, more: PartitionedRateLimiterOptions<string> = {}): Partitions {
  return createPartitionedRateLimiter(
    (key: string) =>
      RateLimitPartition.getFixedWindowLimiter(key, () => ({ permitLimit: 3, windowMs: 3_600_000 })),
    { clock, idleTimeoutMs: 1_000, ...more },
  );
}

/** Another clock that shows the same. */
function ownClock(clock: FakeClock): Clock {
  return { now: () => clock.now(), setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs) };
}

describe('a partition', () => {
  it('leaves within 300 ms once it has been idle for longer than the timeout', () => {
    const clock = new FakeClock();
    const limiter = running(clock);
    limiter.attemptAcquire('a').dispose();
    clock.advance(1_000);
    expect(limiter.partitionCount).toBe(1);
    clock.advance(300);
    expect(limiter.partitionCount).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('stays for as long as its permits are held, however long that is', () => {
    const clock = new FakeClock();
    const limiter = running(clock);
    const lease = limiter.attemptAcquire('a');
    clock.advance(10_000);
    expect(limiter.getStatistics('a')).toMatchObject({
      currentAvailablePermits: 2,
      totalSuccessfulLeases: 1,
    });
    lease.dispose();
    clock.advance(1_300);
    expect(limiter.partitionCount).toBe(0);
  });

  it('stays while somebody waits in it', async () => {
    const clock = new FakeClock();
    const limiter = running(clock);
    const lease = limiter.attemptAcquire('a', 3);
    const waiting = limiter.acquire('a');
    clock.advance(10_000);
    lease.dispose();
    expect((await waiting).isAcquired).toBe(true);
    expect(limiter.getStatistics('a')).toMatchObject({ currentAvailablePermits: 2 });
  });

  it('stays while it owes time: a spent hour is not forgiven after minutes of silence', () => {
    const clock = new FakeClock();
    const limiter = hourly(clock);
    limiter.attemptAcquire('a', 3);
    clock.advance(600_000);
    const refused = limiter.attemptAcquire('a');
    expect(refused.getMetadata(MetadataName.retryAfter)).toBe(3_000_000);
    clock.advance(3_000_000 + 1_300);
    expect(limiter.partitionCount).toBe(0);
    expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
  });

  it('is a new one for a call that comes after the timeout, whether or not it was swept', () => {
    const clock = new FakeClock();
    const limiter = running(clock);
    limiter.attemptAcquire('a').dispose();
    clock.skip(1_001);
    expect(limiter.getStatistics('a')).toMatchObject({ totalSuccessfulLeases: 0 });
  });

  it('is a new one for a decision after the timeout too', () => {
    const clock = new FakeClock();
    const limiter = running(clock);
    for (let round = 0; round < 3; round++) {
      limiter.attemptAcquire('a').dispose();
      clock.skip(1_001);
      limiter.attemptAcquire('a').dispose();
      limiter.attemptAcquire('a').dispose();
      expect(limiter.getStatistics('a')).toMatchObject({ totalSuccessfulLeases: 2 });
      clock.skip(1_001);
    }
  });

  it('that is looked at while it can’t leave reports nothing, whether it is numbers or an object', async () => {
    for (const isObject of [false, true]) {
      const clock = new FakeClock();
      const errors: unknown[] = [];
      const limiter = createPartitionedRateLimiter(
        (key: string) =>
          RateLimitPartition.getTokenBucketLimiter(key, () => ({
            tokenLimit: 3,
            tokensPerPeriod: 1,
            replenishmentPeriodMs: 10_000,
            // One with a clock of its own is no row of numbers.
            clock: isObject ? ownClock(clock) : clock,
          })),
        { clock, idleTimeoutMs: 1_000, onError: (error) => errors.push(error) },
      );
      for (let second = 0; second < 60; second++) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await limiter.acquire('a');
        clock.advance(1_000);
      }
      expect([errors, limiter.partitionCount]).toEqual([[], 1]);
      clock.advance(32_000);
      expect([errors, limiter.partitionCount, clock.pendingTimers]).toEqual([[], 0, 0]);
    }
  });

  it('is the same for a call that comes just in time', () => {
    const clock = new FakeClock();
    const limiter = running(clock);
    limiter.attemptAcquire('a').dispose();
    clock.advance(1_000);
    expect(limiter.getStatistics('a')).toMatchObject({ totalSuccessfulLeases: 1 });
  });

  it('with a timeout of 0 leaves as soon as time passes', () => {
    const clock = new FakeClock();
    const limiter = running(clock, { idleTimeoutMs: 0 });
    limiter.attemptAcquire('a').dispose();
    expect(limiter.getStatistics('a')).toMatchObject({ totalSuccessfulLeases: 1 });
    clock.advance(300);
    expect(limiter.partitionCount).toBe(0);
  });

  it('doesn’t confuse a lease with that of a later partition in its place', () => {
    const clock = new FakeClock();
    const limiter = running(clock);
    const early = limiter.attemptAcquire('a', 3);
    early.dispose();
    clock.advance(1_300);
    for (const key of ['b', 'a', 'c']) limiter.attemptAcquire(key, 3);
    early.dispose();
    for (const key of ['a', 'b', 'c']) expect(limiter.attemptAcquire(key).isAcquired).toBe(false);
  });

  it('is disposed within a turn after it left, so that no call meets a disposed limiter', () => {
    const clock = new FakeClock();
    const made: ConcurrencyLimiter[] = [];
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.get(key, () => {
          const one = new ConcurrencyLimiter({ permitLimit: 1, clock });
          made.push(one);
          return one;
        }),
      { clock, idleTimeoutMs: 1_000 },
    );
    for (let round = 0; round < 100; round++) {
      const lease = limiter.attemptAcquire('a');
      expect(lease.isAcquired).toBe(true);
      lease.dispose();
      clock.advance(1_000 + round * 3);
    }
    expect(made.length).toBeGreaterThan(50);
    clock.advance(2_000);
    for (const one of made) expect(() => one.attemptAcquire()).toThrow(/disposed/);
  });

  it('without a limit leaves too, and never keeps anybody waiting', () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter((key: string) => RateLimitPartition.getNoLimiter(key), {
      clock,
      idleTimeoutMs: 1_000,
    });
    for (let call = 0; call < 100; call++) expect(limiter.attemptAcquire('a', 1_000).isAcquired).toBe(true);
    expect(limiter.getStatistics('a')).toMatchObject({
      currentAvailablePermits: Infinity,
      totalSuccessfulLeases: 100,
    });
    clock.advance(1_300);
    expect(limiter.partitionCount).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('maxPartitions', () => {
  it('refuses a new key at the cap, and makes nothing for it', () => {
    const clock = new FakeClock();
    const limiter = hourly(clock, { maxPartitions: 2 });
    for (const key of ['a', 'b']) limiter.attemptAcquire(key);
    const refused = limiter.attemptAcquire('c');
    expect(refused.isAcquired).toBe(false);
    expect(refused.getMetadata(MetadataName.reasonPhrase)).toBe('Partition limit reached');
    expect(limiter.getStatistics('c')).toBeNull();
    expect(limiter.partitionCount).toBe(2);
    expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
  });

  it('throws out what is evictable at this instant, swept or not', () => {
    const clock = new FakeClock();
    const limiter = running(clock, { maxPartitions: 2 });
    limiter.attemptAcquire('a');
    limiter.attemptAcquire('b').dispose();
    clock.skip(1_000);
    expect(limiter.attemptAcquire('c').isAcquired).toBe(false);
    clock.skip(1);
    expect(limiter.attemptAcquire('c').isAcquired).toBe(true);
    expect(limiter.getStatistics('b')).toBeNull();
    expect(limiter.getStatistics('a')).toMatchObject({ currentAvailablePermits: 2 });
  });

  it('refuses an acquire as well, and a flood of keys costs the others nothing', async () => {
    const clock = new FakeClock();
    const limiter = hourly(clock, { maxPartitions: 10 });
    for (let key = 0; key < 10; key++) limiter.attemptAcquire(String(key));
    const flood = Array.from({ length: 5_000 }, (_, key) => limiter.attemptAcquire(`flood ${key}`));
    expect(flood.filter(({ isAcquired }) => isAcquired)).toEqual([]);
    expect((await limiter.acquire('late')).isAcquired).toBe(false);
    expect(limiter.partitionCount).toBe(10);
    expect(limiter.attemptAcquire('0').isAcquired).toBe(true);
  });

  it('is not used up by factories that fail', () => {
    let isBroken = true;
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.get(key, () => {
          if (isBroken) throw new Error('no database');
          return new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000 });
        }),
      { maxPartitions: 1, clock: new FakeClock() },
    );
    for (const key of ['a', 'b', 'c']) expect(() => limiter.attemptAcquire(key)).toThrow('no database');
    expect(limiter.partitionCount).toBe(0);
    isBroken = false;
    expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
  });
});

describe('the end of a partitioned limiter', () => {
  it('ends those who wait, and every later call; twice is once', async () => {
    const clock = new FakeClock();
    const limiter = running(clock);
    const lease = limiter.attemptAcquire('a', 3);
    const waiting = limiter.acquire('a');
    limiter.dispose();
    limiter.dispose();
    expect((await waiting).getMetadata(MetadataName.reasonPhrase)).toBe('Limiter disposed');
    expect(() => limiter.attemptAcquire('a')).toThrow(/disposed/);
    await expect(limiter.acquire('b')).rejects.toThrow(/disposed/);
    expect(() => limiter.getStatistics('a')).not.toThrow();
    lease.dispose();
    await settled();
    expect(limiter.partitionCount).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
});
