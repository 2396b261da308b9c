import {
  ConcurrencyLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  ObjectDisposedError,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../index.js';
import type { RateLimiter, RateLimitLease } from '../index.js';
import { FakeClock } from '../testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

interface Changeable extends RateLimiter {
  updateOptions(changes: object): void;
}

function follow(promise: Promise<RateLimitLease>): { lease?: RateLimitLease } {
  const progress: { lease?: RateLimitLease } = {};
  void promise.then((lease) => (progress.lease = lease));
  return progress;
}

describe('changing a limit', () => {
  it('keeps what is held, and grants nothing until enough has come back under a lower one', () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 5 });
    const leases = Array.from({ length: 5 }, () => limiter.attemptAcquire());
    limiter.updateOptions({ permitLimit: 2 });
    expect(limiter.getStatistics().currentAvailablePermits).toBe(0);
    for (const lease of leases.slice(0, 3)) lease.dispose();
    expect(limiter.attemptAcquire().isAcquired).toBe(false);
    leases[3]!.dispose();
    expect(limiter.attemptAcquire().isAcquired).toBe(true);
    expect(() => limiter.attemptAcquire(3)).toThrow(RangeError);
  });

  it('passes nothing on to who waits before enough has come back under a lower one', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 3, queueLimit: 1 });
    const leases = Array.from({ length: 3 }, () => limiter.attemptAcquire());
    const waiter = follow(limiter.acquire());
    limiter.updateOptions({ permitLimit: 2 });
    leases.pop()!.dispose();
    await settled();
    expect(waiter.lease).toBeUndefined();
    leases.pop()!.dispose();
    await settled();
    expect(waiter.lease?.isAcquired).toBe(true);
  });

  it('serves those who wait at once when it rises', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5 });
    limiter.attemptAcquire();
    const waiter = follow(limiter.acquire());
    limiter.updateOptions({ permitLimit: 2 });
    await settled();
    expect(waiter.lease?.isAcquired).toBe(true);
  });

  it('refuses waiters that ask for more than the new one, and goes on with those behind', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 3, queueLimit: 10 });
    const held = limiter.attemptAcquire();
    const [big, small] = [follow(limiter.acquire(3)), follow(limiter.acquire(2))];
    limiter.updateOptions({ permitLimit: 2 });
    await settled();
    expect(big.lease?.getMetadata(MetadataName.reasonPhrase)).toBe('Limit lowered');
    expect(small.lease).toBeUndefined();
    expect(limiter.getStatistics()).toMatchObject({ totalFailedLeases: 1, currentQueuedCount: 2 });
    held.dispose();
    await settled();
    expect(small.lease?.isAcquired).toBe(true);
  });

  it('keeps what a window has spent', () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({ permitLimit: 5, windowMs: 1_000, clock });
    limiter.attemptAcquire(4);
    limiter.updateOptions({ permitLimit: 3 });
    expect(limiter.attemptAcquire().getMetadata(MetadataName.retryAfter)).toBe(1_000);
    limiter.updateOptions({ permitLimit: 6 });
    expect(limiter.getStatistics().currentAvailablePermits).toBe(2);
    clock.advance(1_000);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(6);
  });

  it('keeps what a bucket has spent, with a debt that time pays', () => {
    const clock = new FakeClock();
    const options = { tokenLimit: 10, tokensPerPeriod: 1, replenishmentPeriodMs: 100, clock };
    const limiter = new TokenBucketRateLimiter(options);
    limiter.attemptAcquire(10);
    limiter.updateOptions({ tokenLimit: 2 });
    expect(limiter.getStatistics().currentAvailablePermits).toBe(0);
    expect(limiter.attemptAcquire().getMetadata(MetadataName.retryAfter)).toBe(900);
    clock.advance(900);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(1);
    clock.advance(100_000);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(2);
  });

  it('changes a rate from now on, keeping the part of a token that is there', () => {
    const clock = new FakeClock();
    const options = { tokenLimit: 10, tokensPerPeriod: 1, replenishmentPeriodMs: 1_000, clock };
    const limiter = new TokenBucketRateLimiter(options);
    limiter.attemptAcquire(10);
    clock.advance(500);
    limiter.updateOptions({ replenishmentPeriodMs: 100 });
    expect(limiter.replenishmentPeriodMs).toBe(100);
    expect(limiter.attemptAcquire().getMetadata(MetadataName.retryAfter)).toBe(50);
    clock.advance(50);
    expect(limiter.attemptAcquire().isAcquired).toBe(true);
  });

  it.each([
    ['shorter', 500],
    ['longer', 4_000],
  ])('keeps what a sliding window has spent when it becomes %s', (_how, windowMs) => {
    const clock = new FakeClock();
    const options = { permitLimit: 4, windowMs: 1_000, segmentsPerWindow: 10, clock };
    const limiter = new SlidingWindowRateLimiter(options);
    limiter.attemptAcquire(1);
    clock.advance(450);
    limiter.attemptAcquire(2);
    limiter.updateOptions({ windowMs });
    expect(limiter.getStatistics().currentAvailablePermits).toBe(1);
    clock.advance(windowMs * 1.2);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(4);
    expect(limiter.replenishmentPeriodMs).toBe(windowMs / 10);
  });

  it('re-sets the timer of who waits', async () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, queueLimit: 1, clock });
    limiter.attemptAcquire();
    const waiter = follow(limiter.acquire());
    limiter.updateOptions({ windowMs: 300 });
    clock.advance(300);
    await settled();
    expect(waiter.lease?.isAcquired).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('changes the order and the room of the queue', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 2 });
    const held = limiter.attemptAcquire();
    const [older, newer] = [follow(limiter.acquire()), follow(limiter.acquire())];
    limiter.updateOptions({ queueProcessingOrder: 'newestFirst', queueLimit: 0 });
    expect((await limiter.acquire()).isAcquired).toBe(false);
    held.dispose();
    await settled();
    expect([older.lease?.isAcquired, newer.lease?.isAcquired]).toEqual([undefined, true]);
  });
});

describe('changing options', () => {
  const create = (): FixedWindowRateLimiter =>
    new FixedWindowRateLimiter({ permitLimit: 5, windowMs: 1_000, clock: new FakeClock() });

  it('changes nothing when one of them is wrong', () => {
    const limiter = create();
    limiter.attemptAcquire(2);
    expect(() => limiter.updateOptions({ permitLimit: 1, windowMs: NaN })).toThrow(/windowMs.*NaN/);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(3);
    expect(limiter.attemptAcquire(3).quota()).toMatchObject([{ limit: 5 }]);
  });

  it('takes undefined as no change', () => {
    const limiter = create();
    limiter.updateOptions({ permitLimit: undefined, windowMs: 500 });
    expect(limiter.attemptAcquire(5).quota()).toMatchObject([{ limit: 5, windowMs: 500 }]);
  });

  it('takes fixed options only as they are', () => {
    const limiter = create();
    expect(() => limiter.updateOptions({ autoReplenishment: true })).not.toThrow();
    expect(() => limiter.updateOptions({ autoReplenishment: false })).toThrow(
      /autoReplenishment can't change/,
    );
    expect(() => limiter.updateOptions({ clock: new FakeClock() })).toThrow(/clock can't change/);
  });

  it('knows no options that there are not', () => {
    expect(() => create().updateOptions({ permitlimit: 1 } as never)).toThrow(/no option permitlimit/);
    expect(() => create().updateOptions(null as never)).toThrow(TypeError);
  });

  it('is over with the limiter', () => {
    const limiter = create();
    limiter.attemptAcquire(2);
    limiter.dispose();
    expect(() => limiter.updateOptions({ permitLimit: 50 })).toThrow(ObjectDisposedError);
    expect(() => limiter.reset()).toThrow(ObjectDisposedError);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(3);
  });
});

describe.each<{
  kind: string;
  create: () => Changeable;
  first: object;
  second: object;
  quota: object;
}>([
  {
    kind: 'concurrency limiter',
    create: () => new ConcurrencyLimiter({ permitLimit: 5 }),
    first: { permitLimit: 3 },
    second: { queueLimit: 2 },
    quota: { limit: 3 },
  },
  {
    kind: 'fixed window',
    create: () => new FixedWindowRateLimiter({ permitLimit: 5, windowMs: 1_000 }),
    first: { permitLimit: 3 },
    second: { windowMs: 500 },
    quota: { limit: 3, windowMs: 500 },
  },
  {
    kind: 'sliding window',
    create: () => new SlidingWindowRateLimiter({ permitLimit: 5, windowMs: 1_000, segmentsPerWindow: 10 }),
    first: { permitLimit: 3 },
    second: { windowMs: 500, segmentsPerWindow: 5 },
    quota: { limit: 3, windowMs: 500 },
  },
  {
    kind: 'token bucket',
    create: () =>
      new TokenBucketRateLimiter({ tokenLimit: 5, tokensPerPeriod: 1, replenishmentPeriodMs: 1_000 }),
    first: { tokenLimit: 3 },
    second: { replenishmentPeriodMs: 500 },
    quota: { limit: 3, windowMs: 1_500 },
  },
])('a $kind that is changed twice', ({ create, first, second, quota }) => {
  it('keeps what was changed before', () => {
    const limiter = create();
    limiter.updateOptions(first);
    limiter.updateOptions(second);
    expect(limiter.attemptAcquire(3).quota()).toMatchObject([quota]);
    expect(() => limiter.attemptAcquire(4)).toThrow(RangeError);
  });

  it('takes the defaults for what it is, and nothing else for fixed', () => {
    const limiter = create();
    const isRate = !(limiter instanceof ConcurrencyLimiter);
    if (isRate) expect(() => limiter.updateOptions({ autoReplenishment: true })).not.toThrow();
    expect(() => limiter.updateOptions({ clock: undefined })).not.toThrow();
    expect(() => limiter.updateOptions({ clock: new FakeClock() })).toThrow(/clock can't change/);
    expect(() => limiter.updateOptions({ autoReplenishment: false })).toThrow(
      isRate ? /autoReplenishment can't change/ : /no option autoReplenishment/,
    );
    if (!(limiter instanceof TokenBucketRateLimiter)) return;
    expect(() => limiter.updateOptions({ refill: 'greedy' })).not.toThrow();
    expect(() => limiter.updateOptions({ refill: 'interval' })).toThrow(/refill can't change/);
  });
});

describe('changing an interval bucket', () => {
  it('keeps what is spent and where its boundaries are', () => {
    const clock = new FakeClock();
    const numbers = { tokenLimit: 10, tokensPerPeriod: 4, replenishmentPeriodMs: 1_000 };
    const limiter = new TokenBucketRateLimiter({ ...numbers, refill: 'interval', clock });
    limiter.attemptAcquire(9);
    clock.advance(400);
    limiter.updateOptions({ tokenLimit: 12 });
    expect(limiter.getStatistics().currentAvailablePermits).toBe(3);
    limiter.updateOptions({ tokenLimit: 8 });
    expect(limiter.attemptAcquire().getMetadata(MetadataName.retryAfter)).toBe(600);
    clock.advance(600);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(3);
  });
});

describe('reset', () => {
  it('makes everything available, and lets earlier leases give nothing back', () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 2 });
    const before = limiter.attemptAcquire(2);
    limiter.reset();
    expect(limiter.attemptAcquire(2).isAcquired).toBe(true);
    before.dispose();
    expect(limiter.getStatistics().currentAvailablePermits).toBe(0);
  });

  it('serves who waits', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
    limiter.attemptAcquire();
    const waiter = follow(limiter.acquire());
    limiter.reset();
    await settled();
    expect(waiter.lease?.isAcquired).toBe(true);
  });

  it('begins windows and buckets anew', () => {
    const clock = new FakeClock();
    const window = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, clock });
    window.attemptAcquire();
    clock.advance(400);
    window.reset();
    expect(window.attemptAcquire().isAcquired).toBe(true);
    expect(window.attemptAcquire().getMetadata(MetadataName.retryAfter)).toBe(1_000);
  });
});
