import type { ChainParticipant, RateLimiter } from '../index.js';
import {
  chainParticipants,
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  ObjectDisposedError,
  RateLimitPartition,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

function unlimited(clock = new FakeClock()): RateLimiter & ChainParticipant {
  const { factory, partitionKey } = RateLimitPartition.getNoLimiter('key');
  return factory(partitionKey, { clock }) as RateLimiter & ChainParticipant;
}

describe('the limiter of a partition without a limit', () => {
  it('grants whatever is asked for, and only counts', async () => {
    const clock = new FakeClock();
    const limiter = unlimited(clock);
    clock.advance(10);
    expect(limiter.attemptAcquire(Number.MAX_SAFE_INTEGER).isAcquired).toBe(true);
    const lease = await limiter.acquire(0);
    expect([lease.isAcquired, [...lease.metadataNames], lease.quota()]).toEqual([true, [], []]);
    clock.advance(5);
    expect(limiter.idleDurationMs).toBe(5);
    clock.advance(-100);
    expect(limiter.idleDurationMs).toBe(0);
    expect(limiter.getStatistics()).toEqual({
      currentAvailablePermits: Infinity,
      currentQueuedCount: 0,
      totalFailedLeases: 0,
      totalSuccessfulLeases: 2,
    });
  });

  it('ends like any other', async () => {
    const limiter = unlimited();
    const chain = createChainedRateLimiter(limiter);
    expect(limiter.isDisposed).toBe(false);
    limiter.dispose();
    expect(limiter.isDisposed).toBe(true);
    expect(() => limiter.attemptAcquire()).toThrow(ObjectDisposedError);
    await expect(limiter.acquire()).rejects.toThrow('NoLimiter');
    expect(() => chain.attemptAcquire()).toThrow(ObjectDisposedError);
  });

  it('counts in a chain each time that it stands there, with each of its like', () => {
    const [one, other] = [unlimited(), unlimited()];
    createChainedRateLimiter(one, other, new ConcurrencyLimiter({ permitLimit: 1 })).attemptAcquire();
    expect([one, other].map((limiter) => limiter.getStatistics()!.totalSuccessfulLeases)).toEqual([1, 1]);
    expect([one.isSame(one), one.isSame(other)]).toEqual([true, false]);
  });

  it('has no entry in the quota of a chain, be it granted or refused', async () => {
    const scarce = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
    const chain = createChainedRateLimiter(unlimited(), scarce, unlimited());
    const leases = [chain.attemptAcquire(), chain.attemptAcquire(), await chain.acquire(1, { maxWaitMs: 0 })];
    expect(leases.map((lease) => lease.isAcquired)).toEqual([true, false, false]);
    for (const lease of leases)
      expect(lease.quota().map(({ limit, member }) => [limit, member])).toEqual([[1, 1]]);
  });

  it('has nothing to refuse and nothing to wait for, whoever asks', () => {
    const limiter = unlimited();
    expect((limiter as unknown as Record<symbol, () => unknown>)[chainParticipants]!()).toEqual([limiter]);
    expect([limiter.canGrant(5), limiter.hasEnough(5)]).toEqual([true, true]);
    expect(limiter.refuse(1).isAcquired).toBe(true);
    expect(limiter.refusalToWait(1, 0, false)).toBeNull();
    expect(limiter.retryAfterMs(1)).toBeUndefined();
    const reservation = limiter.reserve(3)!;
    reservation.undo();
    expect(limiter.getStatistics()!.totalSuccessfulLeases).toBe(0);
    expect(limiter.reserveInTurn(3).grant().isAcquired).toBe(true);
    expect(limiter.getStatistics()!.totalSuccessfulLeases).toBe(1);
  });

  it('stays while a request of a chain waits that involves it', async () => {
    const clock = new FakeClock();
    const options = { clock, idleTimeoutMs: 1_000 };
    const free = createPartitionedRateLimiter((key: string) => RateLimitPartition.getNoLimiter(key), options);
    const scarce = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1, queueLimit: 5 })),
      options,
    );
    const held = scarce.attemptAcquire('a');
    const waits = [1, 2].map(() => createChainedPartitionedRateLimiter(free, scarce).acquire('a'));
    clock.advance(10_000);
    expect(free.partitionCount).toBe(1);
    held.dispose();
    (await waits[0]!).dispose();
    (await waits[1]!).dispose();
    clock.advance(10_000);
    expect(free.partitionCount).toBe(0);
  });
});

describe('the clock of a limiter that a helper makes', () => {
  const numbers = { permitLimit: 1, windowMs: 100 };

  it('is its own where it has one, and that of its keeper where not', () => {
    const [own, keepers] = [new FakeClock(), new FakeClock()];
    const limiter = createPartitionedRateLimiter(
      (key: 'own' | 'lent') =>
        RateLimitPartition.getFixedWindowLimiter(key, () => ({
          ...numbers,
          clock: key === 'own' ? own : undefined,
        })),
      { clock: keepers },
    );
    const grants = (): boolean[] =>
      (['own', 'lent'] as const).map((key) => limiter.attemptAcquire(key).isAcquired);
    expect(grants()).toEqual([true, true]);
    own.advance(100);
    expect(grants()).toEqual([true, false]);
    keepers.advance(100);
    expect(grants()).toEqual([false, true]);
  });

  it('is that of the process where it has no keeper', () => {
    const partition = RateLimitPartition.getFixedWindowLimiter('key', () => ({
      ...numbers,
      windowMs: 3_600_000,
    }));
    const limiter = partition.factory('key');
    limiter.attemptAcquire();
    expect(limiter.attemptAcquire().isAcquired).toBe(false);
  });
});
