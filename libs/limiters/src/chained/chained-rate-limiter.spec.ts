import {
  ConcurrencyLimiter,
  createChainedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  ObjectDisposedError,
  refusedMember,
  ReplenishingRateLimiter,
  retryAfterOfAll,
  TokenBucketRateLimiter,
} from '../index.js';
import type { RateLimiter, RateLimitLease } from '../index.js';
import { FakeClock } from '../testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function follow(promise: Promise<RateLimitLease>): { lease?: RateLimitLease; error?: unknown } {
  const progress: { lease?: RateLimitLease; error?: unknown } = {};
  promise.then(
    (lease) => (progress.lease = lease),
    (error: unknown) => (progress.error = error),
  );
  return progress;
}

function available(limiter: RateLimiter): number | undefined {
  return limiter.getStatistics()?.currentAvailablePermits;
}

function running(permitLimit: number, queueLimit = 10): ConcurrencyLimiter {
  return new ConcurrencyLimiter({ permitLimit, queueLimit, clock: new FakeClock() });
}

describe('a chain', () => {
  it('is charged all or nothing, in whichever order its members stand', () => {
    for (const isReversed of [false, true]) {
      const clock = new FakeClock();
      const daily = new FixedWindowRateLimiter({ permitLimit: 100, windowMs: 86_400_000, clock });
      const perSecond = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, clock });
      const members = isReversed ? [perSecond, daily] : [daily, perSecond];
      const chain = createChainedRateLimiter(...members);
      const granted = Array.from({ length: 50 }, () => chain.attemptAcquire().isAcquired);
      expect(granted.filter(Boolean)).toHaveLength(1);
      expect(available(daily)).toBe(99);
      expect(daily.getStatistics().totalFailedLeases).toBe(0);
      expect(perSecond.getStatistics().totalFailedLeases).toBe(49);
    }
  });

  it('holds nothing while it waits', async () => {
    const [a, b] = [running(2), running(1)];
    const held = b.attemptAcquire();
    const waiter = follow(createChainedRateLimiter(a, b).acquire(1));
    expect(available(a)).toBe(2);
    expect(b.getStatistics().currentQueuedCount).toBe(1);
    held.dispose();
    await settled();
    expect(waiter.lease?.isAcquired).toBe(true);
    expect([available(a), available(b)]).toEqual([1, 0]);
  });

  it('moves on to the queue of the next that refuses, and wakes those behind it', async () => {
    const [a, b] = [running(1), running(1)];
    const [heldA, heldB] = [a.attemptAcquire(), b.attemptAcquire()];
    const both = follow(createChainedRateLimiter(a, b).acquire());
    const onlyA = follow(a.acquire());
    heldA.dispose();
    await settled();
    expect(both.lease).toBeUndefined();
    expect(onlyA.lease?.isAcquired).toBe(true);
    expect(b.getStatistics().currentQueuedCount).toBe(1);
    heldB.dispose();
    await settled();
    expect(both.lease).toBeUndefined();
    onlyA.lease?.dispose();
    await settled();
    expect(both.lease?.isAcquired).toBe(true);
  });

  it('is refused by the member that has no queue when its turn comes, having cost nothing', async () => {
    const [a, b] = [running(1), running(1, 0)];
    const held = a.attemptAcquire();
    b.attemptAcquire();
    const waiter = follow(createChainedRateLimiter(a, b).acquire());
    held.dispose();
    await settled();
    expect(waiter.lease?.getMetadata(MetadataName.reasonPhrase)).toBe('Permit limit reached');
    expect(refusedMember(waiter.lease!)).toBe(1);
    expect(available(a)).toBe(1);
  });

  it('counts chains within it as their members', () => {
    const [a, b, c] = [running(3), running(2), running(1)];
    const chain = createChainedRateLimiter(createChainedRateLimiter(a, b), createChainedRateLimiter(c));
    expect(() => chain.attemptAcquire(2)).toThrow(/limit of 1/);
    const lease = chain.attemptAcquire();
    expect([a, b, c].map(available)).toEqual([2, 1, 0]);
    expect(chain.attemptAcquire().isAcquired).toBe(false);
    expect([a, b, c].map(available)).toEqual([2, 1, 0]);
    lease.dispose();
    expect([a, b, c].map(available)).toEqual([3, 2, 1]);
  });

  it('asks a member that stands in it twice for twice as much', () => {
    const a = running(5);
    const chain = createChainedRateLimiter(a, a);
    expect(() => chain.attemptAcquire(3)).toThrow(RangeError);
    const lease = chain.attemptAcquire(2);
    expect(available(a)).toBe(1);
    expect(chain.attemptAcquire(1).isAcquired).toBe(false);
    lease.dispose();
    expect(available(a)).toBe(5);
  });

  it('doesn’t change when the array that it was made of does', () => {
    const members = [running(1)];
    const chain = createChainedRateLimiter(...members);
    members.push(running(1));
    chain.attemptAcquire();
    expect(available(members[1]!)).toBe(1);
  });

  it('needs members, and only limiters', () => {
    expect(() => createChainedRateLimiter()).toThrow(TypeError);
    expect(() => createChainedRateLimiter(running(1), null as never)).toThrow(/Member 1/);
    expect(() => createChainedRateLimiter({} as never)).toThrow(/Member 0/);
  });
});

describe('the refusal of a chain', () => {
  it('tells which member refused, and when all of them would let the request pass', () => {
    const clock = new FakeClock();
    const perIp = new FixedWindowRateLimiter({ permitLimit: 10, windowMs: 100, clock });
    const perUser = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, clock });
    const perEndpoint = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 5_000, clock });
    const chain = createChainedRateLimiter(perIp, perUser, perEndpoint);
    chain.attemptAcquire();
    const refused = chain.attemptAcquire();
    expect(refusedMember(refused)).toBe(1);
    expect(refused.getMetadata(MetadataName.retryAfter)).toBe(1_000);
    expect(retryAfterOfAll(refused)).toBe(5_000);
  });
});

describe('what a chain tells of itself', () => {
  it('are the scarcest permits and the sums of its members', () => {
    const [a, b] = [running(3), running(2)];
    const chain = createChainedRateLimiter(a, b);
    chain.attemptAcquire(2);
    chain.attemptAcquire();
    expect(chain.getStatistics()).toEqual({
      currentAvailablePermits: 0,
      currentQueuedCount: 0,
      totalSuccessfulLeases: 2,
      totalFailedLeases: 1,
    });
  });

  it('is the shortest idleness, and none while a member is in use', () => {
    const clock = new FakeClock();
    const a = new ConcurrencyLimiter({ permitLimit: 1, clock });
    clock.advance(10);
    const b = new ConcurrencyLimiter({ permitLimit: 1, clock });
    clock.advance(5);
    const chain = createChainedRateLimiter(a, b);
    expect(chain.idleDurationMs).toBe(5);
    b.attemptAcquire();
    expect(chain.idleDurationMs).toBeNull();
  });

  it('is whether a member replenishes, and how often the fastest does', () => {
    const clock = new FakeClock();
    const window = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 500, clock });
    const bucket = new TokenBucketRateLimiter({
      tokenLimit: 1,
      tokensPerPeriod: 1,
      replenishmentPeriodMs: 300,
      autoReplenishment: false,
      clock,
    });
    expect(createChainedRateLimiter(running(1))).not.toBeInstanceOf(ReplenishingRateLimiter);
    const chain = createChainedRateLimiter(running(1), window, bucket);
    expect(chain).toBeInstanceOf(ReplenishingRateLimiter);
    expect(chain.replenishmentPeriodMs).toBe(300);
    expect(chain.isAutoReplenishing).toBe(false);
    expect(createChainedRateLimiter(window).isAutoReplenishing).toBe(true);
    bucket.attemptAcquire();
    expect(chain.tryReplenish()).toBe(false);
    clock.advance(300);
    expect(chain.tryReplenish()).toBe(true);
  });
});

describe('the end of a chain', () => {
  it('ends all its waiters before anybody else is served, and no lease and no member', async () => {
    const a = running(3);
    const chain = createChainedRateLimiter(a);
    const lease = chain.attemptAcquire(2);
    const [big, small] = [follow(chain.acquire(2)), follow(chain.acquire(1))];
    const other = follow(a.acquire(1));
    chain.dispose();
    await settled();
    for (const { lease: ended } of [big, small]) {
      expect(ended?.getMetadata(MetadataName.reasonPhrase)).toBe('Limiter disposed');
    }
    expect(other.lease?.isAcquired).toBe(true);
    lease.dispose();
    expect(available(a)).toBe(2);
    expect(() => chain.attemptAcquire()).toThrow(ObjectDisposedError);
    expect(chain.tryReplenish()).toBe(false);
    chain.dispose();
  });

  it('that is the end of a member ends a wait in that member, and any other at its turn', async () => {
    const [a, b] = [running(1), running(1)];
    const chain = createChainedRateLimiter(a, b);
    const held = a.attemptAcquire();
    const waiter = follow(chain.acquire());
    b.dispose();
    await settled();
    expect(waiter.lease).toBeUndefined();
    held.dispose();
    await settled();
    expect(waiter.lease?.getMetadata(MetadataName.reasonPhrase)).toBe('Limiter disposed');
    expect(() => chain.attemptAcquire()).toThrow(ObjectDisposedError);
    expect(available(a)).toBe(1);
  });

  it('that is the end of a chain within it counts as well', async () => {
    const [a, b] = [running(1), running(1)];
    const inner = createChainedRateLimiter(b);
    const chain = createChainedRateLimiter(a, inner);
    const held = a.attemptAcquire();
    const waiter = follow(chain.acquire());
    inner.dispose();
    held.dispose();
    await settled();
    expect(waiter.lease?.getMetadata(MetadataName.reasonPhrase)).toBe('Limiter disposed');
    await expect(chain.acquire()).rejects.toThrow(ObjectDisposedError);
  });
});

describe('a limit that is lowered while a chain waits elsewhere', () => {
  it('refuses the request, and the holder’s dispose throws nothing', async () => {
    const clock = new FakeClock();
    const a = new ConcurrencyLimiter({ permitLimit: 5, queueLimit: 10, clock });
    const b = new FixedWindowRateLimiter({ permitLimit: 5, windowMs: 1_000, queueLimit: 10, clock });
    const held = a.attemptAcquire(5);
    const waiter = follow(createChainedRateLimiter(a, b).acquire(5));
    b.updateOptions({ permitLimit: 3 });
    held.dispose();
    await settled();
    expect(waiter.lease?.getMetadata(MetadataName.reasonPhrase)).toBe('Limit lowered');
    expect(b.getStatistics().currentQueuedCount).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
});
