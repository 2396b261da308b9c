import type { DefaultPartitionedRateLimiter } from './index.js';
import { FakeClock } from './testing/index.js';

type Package = typeof import('./index.js');

/** Loads the package once more, as a program does that gets it as ESM and as CommonJS, or in two versions. */
function load(): Package {
  let loaded: Package | undefined;
  jest.isolateModules(() => {
    loaded = jest.requireActual<Package>('./index.js');
  });
  return loaded!;
}

/** A partitioned limiter of one of the copies, and word of each call of its partitioner. */
function keyed(
  copy: Package,
  permitLimit: number,
  onCall: () => void,
): DefaultPartitionedRateLimiter<string, string> {
  return copy.createPartitionedRateLimiter((key: string) => {
    onCall();
    return copy.RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit }));
  });
}

describe('two loaded copies of the package', () => {
  const [one, other] = [load(), load()];
  const clock = new FakeClock();

  it('are two indeed', () => {
    expect(one.ConcurrencyLimiter).not.toBe(other.ConcurrencyLimiter);
    expect(one.RateLimiter).not.toBe(other.RateLimiter);
  });

  it('recognise each other’s limiters', () => {
    const limiter = new one.FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, clock });
    expect(limiter).toBeInstanceOf(other.RateLimiter);
    expect(limiter).toBeInstanceOf(other.ReplenishingRateLimiter);
    expect(other.isRateLimiter(limiter)).toBe(true);
    expect(new one.ConcurrencyLimiter({ permitLimit: 1 })).not.toBeInstanceOf(other.ReplenishingRateLimiter);
    for (const none of [null, undefined, 1, 'a limiter'])
      expect((none as unknown) instanceof other.ReplenishingRateLimiter).toBe(false);
    expect(other.isRateLimiter({})).toBe(false);
  });

  it('recognise each other’s partitioned limiters, leases and errors', () => {
    const partitions = one.createPartitionedRateLimiter((key: string) =>
      one.RateLimitPartition.getNoLimiter(key),
    );
    expect(other.isPartitionedRateLimiter(partitions)).toBe(true);
    expect([null, undefined, {}, 5].filter(other.isPartitionedRateLimiter)).toEqual([]);
    expect(partitions.attemptAcquire('a')).toBeInstanceOf(other.RateLimitLease);
    const limiter = new one.ConcurrencyLimiter({ permitLimit: 1 });
    expect(limiter.attemptAcquire()).toBeInstanceOf(other.RateLimitLease);
    expect(limiter.attemptAcquire()).toBeInstanceOf(other.RateLimitLease);
    limiter.dispose();
    const error = ((): unknown => {
      try {
        return limiter.attemptAcquire();
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(other.ObjectDisposedError);
    expect(other.isRateLimitError(error)).toBe(true);
    expect(new RangeError('mine')).not.toBeInstanceOf(other.ObjectDisposedError);
  });

  it('understand each other’s metadata names', () => {
    const limiter = new one.FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, clock });
    limiter.attemptAcquire();
    expect(limiter.attemptAcquire().getMetadata(other.MetadataName.retryAfter)).toBe(1_000);
  });

  it('chain each other’s limiters all-or-nothing, holding nothing while they wait', async () => {
    const a = new one.ConcurrencyLimiter({ permitLimit: 2, queueLimit: 5, clock });
    const b = new other.ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5, clock });
    const chain = other.createChainedRateLimiter(one.createChainedRateLimiter(a), b);
    const held = chain.attemptAcquire();
    expect(chain.attemptAcquire().isAcquired).toBe(false);
    expect(a.getStatistics()).toMatchObject({ currentAvailablePermits: 1, totalFailedLeases: 0 });
    const controller = new AbortController();
    const [aborted, waiting] = [chain.acquire(1, { signal: controller.signal }), chain.acquire(1)];
    expect(a.getStatistics().currentAvailablePermits).toBe(1);
    controller.abort(new Error('gone'));
    await expect(aborted).rejects.toThrow('gone');
    held.dispose();
    const lease = await waiting;
    expect(lease.isAcquired).toBe(true);
    expect([a, b].map((limiter) => limiter.getStatistics().currentAvailablePermits)).toEqual([1, 0]);
    lease.dispose();
    expect([a, b].map((limiter) => limiter.getStatistics().currentAvailablePermits)).toEqual([2, 1]);
  });

  it('never wait for each other in chains of opposite orders', async () => {
    const a = new one.ConcurrencyLimiter({ permitLimit: 1, queueLimit: 100, clock });
    const b = new other.ConcurrencyLimiter({ permitLimit: 1, queueLimit: 100, clock });
    const chains = [one.createChainedRateLimiter(a, b), other.createChainedRateLimiter(b, a)];
    const requests = Array.from({ length: 40 }, async (_, index) => {
      const lease = await chains[index % 2]!.acquire();
      await Promise.resolve();
      lease.dispose();
      return lease.isAcquired;
    });
    expect((await Promise.all(requests)).every(Boolean)).toBe(true);
    expect([a, b].map((limiter) => limiter.getStatistics().currentAvailablePermits)).toEqual([1, 1]);
  });

  it('notice when a chain of the other copy has ended', async () => {
    const inner = one.createChainedRateLimiter(new one.ConcurrencyLimiter({ permitLimit: 1 }));
    const outer = other.createChainedRateLimiter(inner, new other.ConcurrencyLimiter({ permitLimit: 1 }));
    inner.dispose();
    expect(() => outer.attemptAcquire()).toThrow(one.ObjectDisposedError);
    await expect(outer.acquire()).rejects.toThrow(other.ObjectDisposedError);
  });

  it('put each other’s limiters and partitions into theirs', () => {
    const partitions = one.createPartitionedRateLimiter(
      (key: string) =>
        key === 'a'
          ? one.RateLimitPartition.get(key, () => new other.ConcurrencyLimiter({ permitLimit: 1, clock }))
          : other.RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })),
      { clock, idleTimeoutMs: 1_000 },
    );
    for (const key of ['a', 'b']) {
      const lease = partitions.attemptAcquire(key);
      expect(partitions.attemptAcquire(key).isAcquired).toBe(false);
      clock.advance(5_000);
      expect(partitions.attemptAcquire(key).isAcquired).toBe(false);
      lease.dispose();
      expect(partitions.partitionCount).toBe(1);
      clock.advance(2_000);
      expect(partitions.partitionCount).toBe(0);
    }
  });

  it('chain each other’s partitioned limiters, running each partitioner once', () => {
    let calls = 0;
    const per = (copy: Package, permitLimit: number): DefaultPartitionedRateLimiter<string, string> =>
      keyed(copy, permitLimit, () => calls++);
    const [a, b] = [per(one, 2), per(other, 1)];
    const chain = one.createChainedPartitionedRateLimiter<string>(a, b);
    expect(chain.attemptAcquire('x').isAcquired).toBe(true);
    expect(chain.attemptAcquire('x').isAcquired).toBe(false);
    expect(calls).toBe(4);
    expect(a.getStatistics('x')).toMatchObject({ currentAvailablePermits: 1, totalFailedLeases: 0 });
  });

  it('tell which member of a chain of the other copy refused', () => {
    const full = new one.ConcurrencyLimiter({ permitLimit: 1 });
    full.attemptAcquire();
    const chain = one.createChainedRateLimiter(new one.ConcurrencyLimiter({ permitLimit: 1 }), full);
    expect(other.refusedMember(chain.attemptAcquire())).toBe(1);
  });
});
