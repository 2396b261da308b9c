import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  getManagedLifetimeLimiter,
  MetadataName,
  RateLimitPartition,
} from '../index.js';
import type { ManagedLifetimeLimiter, RateLimitLease, RateLimitPartition as Partition } from '../index.js';
import type { TimerOptions } from '../clock.js';
import { FakeClock } from '../testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A clock that knows which timers were set, and for whom. */
class WatchedClock extends FakeClock {
  background = 0;
  foreground = 0;

  override setTimer(callback: () => void, delayMs: number, options?: TimerOptions) {
    if (options?.background === true) this.background++;
    else this.foreground++;
    return super.setTimer(callback, delayMs);
  }
}

/** A window that counts how often it is replenished from outside. */
class CountingWindow extends FixedWindowRateLimiter {
  replenished = 0;

  override tryReplenish(): boolean {
    this.replenished++;
    return super.tryReplenish();
  }
}

const numbers = { permitLimit: 2, queueLimit: 9 };

/** The same limits as rows of numbers, and as limiters that are objects. */
const KINDS: [string, (clock: FakeClock) => (key: string) => Partition<string>][] = [
  ['rows', () => (key) => RateLimitPartition.getConcurrencyLimiter(key, () => numbers)],
  [
    'objects',
    (clock) => (key) => RateLimitPartition.get(key, () => new ConcurrencyLimiter({ ...numbers, clock })),
  ],
];

describe.each(KINDS)('partitions that somebody waits in, as %s', (_kind, make) => {
  it('let no newcomer pass, whichever way it asks', async () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(make(clock), { clock });
    const held = limiter.attemptAcquire('a');
    const big = limiter.acquire('a', 2);
    expect(limiter.attemptAcquire('a').isAcquired).toBe(false);
    let newcomer: RateLimitLease | undefined;
    void limiter.acquire('a').then((lease) => (newcomer = lease));
    await settled();
    expect(newcomer).toBeUndefined();
    held.dispose();
    expect((await big).isAcquired).toBe(true);
    expect(newcomer).toBeUndefined();
  });

  it('are new ones for a request after their timeout, swept or not, and the same for one just in time', async () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(make(clock), { clock, idleTimeoutMs: 1_000 });
    const use = async (): Promise<void> => {
      const held = limiter.attemptAcquire('a', 2);
      const waiting = limiter.acquire('a', 2);
      held.dispose();
      (await waiting).dispose();
    };
    await use();
    clock.skip(1_000);
    limiter.attemptAcquire('a').dispose();
    expect(limiter.getStatistics('a')!.totalSuccessfulLeases).toBe(3);
    await use();
    clock.skip(1_000.000_001);
    limiter.attemptAcquire('a').dispose();
    expect(limiter.getStatistics('a')!.totalSuccessfulLeases).toBe(1);
  });

  it('set no timer but for what can only come with time', () => {
    const clock = new WatchedClock();
    const limiter = createPartitionedRateLimiter(make(clock), { clock });
    limiter.attemptAcquire('a', 2);
    for (let request = 0; request < 3; request++) void limiter.acquire('a');
    clock.advance(1_000);
    expect(clock.foreground).toBe(0);
  });
});

describe('rows', () => {
  it('name the wait for as many permits as were asked for', () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.getTokenBucketLimiter(key, () => ({
          tokenLimit: 9,
          tokensPerPeriod: 1,
          replenishmentPeriodMs: 10,
        })),
      { clock },
    );
    limiter.attemptAcquire('a', 9);
    const waits = [0, 1, 2, 5].map((permits) =>
      limiter.attemptAcquire('a', permits).getMetadata(MetadataName.retryAfter),
    );
    expect(waits).toEqual([10, 10, 20, 50]);
  });

  it('go back to the numbers that they had at first', () => {
    let permitLimit = 2;
    const limiter = createPartitionedRateLimiter(
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit })),
      { clock: new FakeClock() },
    );
    const held = limiter.attemptAcquire('a');
    for (permitLimit of [5, 2]) {
      limiter.refreshOptions();
      expect(limiter.getStatistics('a')!.currentAvailablePermits).toBe(permitLimit - 1);
    }
    expect(() => limiter.attemptAcquire('a', 3)).toThrow(/limit of 2/);
    held.dispose();
  });

  it('are told from too large a request also where a chain asks one after the other', () => {
    class Foreign extends ConcurrencyLimiter {
      protected override attemptAcquireCore(permits: number): RateLimitLease {
        return super.attemptAcquireCore(permits);
      }
    }
    const chain = createChainedPartitionedRateLimiter(
      createPartitionedRateLimiter((key: string) =>
        RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 2 })),
      ),
      createPartitionedRateLimiter((key: string) =>
        RateLimitPartition.get(key, () => new Foreign({ permitLimit: 9 })),
      ),
    );
    expect(chain.attemptAcquire('a', 2).isAcquired).toBe(true);
    expect(() => chain.attemptAcquire('a', 3)).toThrow(RangeError);
  });
});

describe('limiters with a managed lifetime', () => {
  function owned(maxPartitions: number) {
    const clock = new WatchedClock();
    const owners = new Map<string, ManagedLifetimeLimiter>();
    const errors: unknown[] = [];
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        getManagedLifetimeLimiter(
          key,
          () => new ConcurrencyLimiter({ permitLimit: 1, clock }),
          (own, name) => void owners.set(name, own),
        ),
      { clock, maxPartitions, onError: (error) => errors.push(error) },
    );
    return { clock, owners, errors, limiter };
  }

  it('are hardly ever looked at while they live', () => {
    const { clock, limiter } = owned(9);
    for (const key of ['a', 'b', 'c']) limiter.attemptAcquire(key).dispose();
    clock.advance(60_000);
    expect(clock.background).toBeLessThanOrEqual(20);
  });

  it('end once, whenever their place is cleared', () => {
    const { clock, owners, errors, limiter } = owned(1);
    limiter.attemptAcquire('a');
    owners.get('a')!.dispose();
    expect(limiter.attemptAcquire('b').isAcquired).toBe(true);
    clock.skip(10_200);
    expect(limiter.attemptAcquire('c').isAcquired).toBe(false);
    expect(limiter.partitionCount).toBe(1);
    expect(errors).toEqual([]);
    expect(limiter.attemptAcquire('b').isAcquired).toBe(false);
  });
});

describe('limiters that are replenished by their partitions', () => {
  function counted(idleTimeoutMs: number) {
    const clock = new FakeClock();
    const windows = new Map<string, CountingWindow>();
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.get(key, () => {
          const options = { permitLimit: 1, windowMs: 60_000, queueLimit: 9, autoReplenishment: false };
          const made = new CountingWindow({ ...options, clock });
          windows.set(key, made);
          return made;
        }),
      { clock, idleTimeoutMs, maxPartitions: 1 },
    );
    return { clock, windows, limiter };
  }

  it('are so once a beat, however many wait', () => {
    const { clock, windows, limiter } = counted(1_000);
    limiter.attemptAcquire('a');
    for (let request = 0; request < 3; request++) void limiter.acquire('a');
    const before = windows.get('a')!.replenished;
    clock.advance(1_000);
    expect(windows.get('a')!.replenished).toBe(before + 10);
  });

  it('are so as well where the request of a chain waits in them', () => {
    const { clock, windows, limiter } = counted(1_000);
    const other = createPartitionedRateLimiter((key: string) => RateLimitPartition.getNoLimiter(key));
    limiter.attemptAcquire('a');
    void createChainedPartitionedRateLimiter(limiter, other).acquire('a');
    const before = windows.get('a')!.replenished;
    clock.advance(1_000);
    expect(windows.get('a')!.replenished).toBe(before + 10);
  });

  it('are so no more once they have left', () => {
    const { clock, windows, limiter } = counted(10);
    // A chain may let its request wait there: it is watched for a beat.
    createChainedPartitionedRateLimiter(limiter).attemptAcquire('a', 0);
    clock.advance(20);
    expect(limiter.attemptAcquire('b').isAcquired).toBe(true);
    const before = windows.get('a')!.replenished;
    clock.advance(500);
    expect(windows.get('a')!.replenished).toBe(before);
  });
});

describe('a limiter of a helper that has no room in a row', () => {
  it('goes on by the clock of its partitions with new options', async () => {
    const clock = new FakeClock();
    let permitLimit = 1;
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.getSlidingWindowLimiter(key, () => ({
          permitLimit,
          windowMs: 1_000,
          segmentsPerWindow: 100,
          queueLimit: 9,
        })),
      { clock },
    );
    limiter.attemptAcquire('a');
    permitLimit = 2;
    limiter.refreshOptions();
    expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
    const waiting = limiter.acquire('a');
    clock.advance(1_000);
    expect((await waiting).isAcquired).toBe(true);
  });
});

describe('a partition that is replenished by its keeper', () => {
  it('is so as well while only requests for no permits wait in it', async () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.getFixedWindowLimiter(key, () => ({
          permitLimit: 1,
          queueLimit: 1,
          windowMs: 1_000,
          autoReplenishment: false,
        })),
      { clock },
    );
    limiter.attemptAcquire('a');
    const waiting = limiter.acquire('a', 0);
    clock.advance(1_100);
    expect((await waiting).isAcquired).toBe(true);
  });
});
