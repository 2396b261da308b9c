import { Keeper } from '../../conformance/partitioned/foreign-keeper.js';
import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
} from '../index.js';
import type { RateLimitLease } from '../index.js';
import { FakeClock } from '../testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('a limiter of another maker in a partition', () => {
  it('is replenished before it is asked', () => {
    const keeper = new Keeper();
    keeper.limiter.attemptAcquire('a');
    keeper.limiter.attemptAcquire('a');
    expect(keeper.of('a').replenished).toBe(2);
  });

  it('is replenished at least every 100 ms while somebody waits in it, and not when nobody does', async () => {
    const keeper = new Keeper();
    const lease = keeper.limiter.attemptAcquire('a', 2);
    const waiting = keeper.limiter.acquire('a');
    const before = keeper.of('a').replenished;
    keeper.clock.advance(1_000);
    expect(keeper.of('a').replenished).toBeGreaterThanOrEqual(before + 10);
    lease.dispose();
    await waiting;
    keeper.clock.advance(200);
    const after = keeper.of('a').replenished;
    keeper.clock.advance(10_000);
    expect(keeper.of('a').replenished).toBe(after);
  });

  it('that fails to replenish is reported each time, and stops nobody else', async () => {
    const keeper = new Keeper();
    for (const key of ['a', 'b']) keeper.limiter.attemptAcquire(key, 2);
    const waiting = ['a', 'b'].map((key) => keeper.limiter.acquire(key));
    keeper.of('a').failing = 'tryReplenish';
    const before = keeper.of('b').replenished;
    keeper.clock.advance(500);
    expect(keeper.of('b').replenished).toBeGreaterThanOrEqual(before + 5);
    expect(keeper.errors.length).toBeGreaterThanOrEqual(5);
    expect(keeper.errors[0]).toEqual(['tryReplenish failed', 'a']);
    expect(keeper.limiter.attemptAcquire('a').isAcquired).toBe(false);
    keeper.limiter.dispose();
    await Promise.all(waiting);
  });

  it('leaves when it says that it is idle for too long, within 300 ms', () => {
    const keeper = new Keeper({ idleTimeoutMs: 1_000 });
    keeper.limiter.attemptAcquire('a');
    keeper.clock.advance(5_000);
    expect(keeper.of('a').disposed).toBe(0);
    keeper.of('a').idleMs = 1_001;
    keeper.clock.advance(300);
    expect(keeper.of('a').disposed).toBe(1);
    expect(keeper.limiter.partitionCount).toBe(0);
  });

  it('that can’t say how idle it is stays, is reported, and stands in nobody’s way', () => {
    const keeper = new Keeper({ idleTimeoutMs: 1_000, maxPartitions: 2 });
    keeper.limiter.attemptAcquire('a');
    keeper.limiter.attemptAcquire('b');
    keeper.of('a').failing = 'idleDurationMs';
    keeper.of('b').idleMs = 5_000;
    keeper.clock.skip(5_000);
    expect(keeper.limiter.attemptAcquire('c').isAcquired).toBe(true);
    keeper.clock.advance(500);
    expect(keeper.errors).toContainEqual(['idleDurationMs failed', 'a']);
    expect(keeper.of('a').disposed).toBe(0);
    expect(keeper.of('b').disposed).toBe(1);
  });

  it('makes room as soon as it may leave, however short before it was asked in vain', () => {
    const keeper = new Keeper({ idleTimeoutMs: 1_000, maxPartitions: 1 });
    keeper.limiter.attemptAcquire('a');
    keeper.of('a').idleMs = 1_000;
    expect(keeper.limiter.attemptAcquire('b').isAcquired).toBe(false);
    keeper.clock.skip(1);
    keeper.of('a').idleMs = 1_001;
    expect(keeper.limiter.attemptAcquire('b').isAcquired).toBe(true);
  });

  it('makes room behind however many that may not leave, as soon as a search comes to it', () => {
    const keeper = new Keeper({ idleTimeoutMs: 1_000, maxPartitions: 200 });
    for (let key = 0; key < 200; key++) keeper.limiter.attemptAcquire(String(key));
    for (const mayLeave of ['0', '100', '199']) {
      keeper.of(mayLeave).idleMs = 1_001;
      for (let searches = 0; searches < 4; searches++) {
        keeper.clock.skip(1);
        keeper.limiter.attemptAcquire(`instead of ${mayLeave}`, 0);
      }
      expect([keeper.of(mayLeave).disposed, keeper.limiter.partitionCount]).toEqual([1, 200]);
    }
  });

  it('that fails to end has left all the same', () => {
    const keeper = new Keeper({ idleTimeoutMs: 1_000 });
    keeper.limiter.attemptAcquire('a');
    keeper.of('a').failing = 'dispose';
    keeper.of('a').idleMs = 2_000;
    keeper.clock.advance(300);
    expect(keeper.errors).toEqual([['dispose failed', 'a']]);
    expect(keeper.limiter.partitionCount).toBe(0);
    expect(keeper.limiter.attemptAcquire('a').isAcquired).toBe(true);
  });
});

describe('the end of a keeper of a hundred limiters', () => {
  it('ends all of them although one fails, and throws its error as it is', () => {
    const keeper = new Keeper();
    for (let key = 0; key < 100; key++) keeper.limiter.attemptAcquire(String(key));
    keeper.of('7').failing = 'dispose';
    expect(() => keeper.limiter.dispose()).toThrow('dispose failed');
    for (const one of keeper.made.values()) expect(one.disposed).toBe(1);
    expect(() => keeper.limiter.dispose()).not.toThrow();
  });

  it('throws the errors of several together', () => {
    const keeper = new Keeper();
    for (let key = 0; key < 3; key++) keeper.limiter.attemptAcquire(String(key));
    for (const key of ['0', '2']) keeper.of(key).failing = 'dispose';
    const thrown = ((): unknown => {
      try {
        keeper.limiter.dispose();
      } catch (error) {
        return error;
      }
      return undefined;
    })();
    expect(thrown).toBeInstanceOf(AggregateError);
    expect(thrown).toMatchObject({ message: 'Several limiters of partitions failed to end.' });
    expect((thrown as AggregateError).errors).toHaveLength(2);
  });
});

describe('a partition whose factory makes one of our limiters', () => {
  it.each([0, 30, 1_000])(
    'makes room at the cap once it is idle for longer than %i ms, however short before it was asked in vain',
    (idleTimeoutMs) => {
      const clock = new FakeClock();
      const limiter = createPartitionedRateLimiter(
        (key: string) =>
          RateLimitPartition.get(
            key,
            () => new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 500, clock }),
          ),
        { clock, idleTimeoutMs, maxPartitions: 1 },
      );
      limiter.attemptAcquire('a');
      for (const [waitMs, isRoom] of [
        [480, false],
        [19 + idleTimeoutMs, false],
        [1, false],
        [1, true],
      ] as const) {
        clock.skip(waitMs);
        expect(limiter.attemptAcquire('b').isAcquired).toBe(isRoom);
      }
    },
  );
});

describe('a partition replenished by hand', () => {
  it('serves its waiters by the beat of its keeper, which keeps the process alive for them alone', async () => {
    const clock = new FakeClock();
    const backgrounds: unknown[] = [];
    const watched = {
      now: () => clock.now(),
      setTimer: (callback: () => void, delayMs: number, options?: { background?: boolean }) => {
        backgrounds.push(options?.background);
        return clock.setTimer(callback, delayMs);
      },
    };
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.getFixedWindowLimiter(key, () => ({
          permitLimit: 1,
          windowMs: 250,
          queueLimit: 1,
          autoReplenishment: false,
        })),
      { clock: watched },
    );
    limiter.attemptAcquire('a');
    expect(backgrounds.filter((background) => background !== true)).toEqual([]);
    const progress: { lease?: RateLimitLease } = {};
    void limiter.acquire('a').then((lease) => (progress.lease = lease));
    clock.advance(240);
    await settled();
    expect(progress.lease).toBeUndefined();
    clock.advance(110);
    await settled();
    expect(progress.lease?.isAcquired).toBe(true);
    const set = backgrounds.length;
    clock.advance(1_000);
    expect(backgrounds.slice(set).filter((background) => background !== true)).toEqual([]);
  });

  it('is up to date when it is asked, without any beat', () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.get(
          key,
          () =>
            new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 250, autoReplenishment: false, clock }),
        ),
      { clock },
    );
    expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
    clock.skip(250);
    expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
  });
});

describe('a wait in a limiter for which its keeper can set no timer', () => {
  it('takes nothing that nobody gives back', async () => {
    class OwnLimiter extends ConcurrencyLimiter {}
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.get(key, () => new OwnLimiter({ permitLimit: 1, queueLimit: 1, clock })),
      { clock },
    );
    const held = limiter.attemptAcquire('a');
    const { setTimer } = clock;
    clock.setTimer = () => {
      throw new Error('The clock fails.');
    };
    await expect(limiter.acquire('a')).rejects.toThrow('The clock fails.');
    clock.setTimer = setTimer;
    held.dispose();
    await settled();
    expect(limiter.getStatistics('a')).toMatchObject({ currentAvailablePermits: 1, currentQueuedCount: 0 });
  });
});

describe('a partition with a clock of its own', () => {
  it('is left to itself by its keeper while somebody waits, and looked at without error as long as it is in use', async () => {
    const clock = new FakeClock();
    const errors: unknown[] = [];
    const numbers = { permitLimit: 1, queueLimit: 1, clock: new FakeClock() };
    const limiter = createPartitionedRateLimiter(
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => numbers),
      { clock, onError: (error) => errors.push(error) },
    );
    const held = limiter.attemptAcquire('a');
    const timers = clock.pendingTimers;
    const waiting = limiter.acquire('a');
    expect(clock.pendingTimers).toBe(timers);
    held.dispose();
    await waiting;
    clock.advance(60_000);
    expect(errors).toEqual([]);
  });
});
