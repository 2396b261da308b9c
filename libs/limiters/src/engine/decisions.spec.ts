import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  RateLimitPartition,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../index.js';
import type { Clock, RateLimiter, RateLimitLease } from '../index.js';
import { FakeClock } from '../testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function follow(promise: Promise<RateLimitLease>): { lease?: RateLimitLease } {
  const progress: { lease?: RateLimitLease } = {};
  void promise.then((lease) => (progress.lease = lease));
  return progress;
}

const options = { permitLimit: 3, windowMs: 300, queueLimit: 5 };
const bucket = { tokenLimit: 3, tokensPerPeriod: 3, replenishmentPeriodMs: 300, queueLimit: 5 };
type Create = (more: { clock: FakeClock; autoReplenishment?: boolean }) => RateLimiter & { reset(): void };
const RATES: Record<string, Create> = {
  'fixed window': (more) => new FixedWindowRateLimiter({ ...options, ...more }),
  'sliding window': (more) => new SlidingWindowRateLimiter({ ...options, segmentsPerWindow: 3, ...more }),
  'greedy bucket': (more) => new TokenBucketRateLimiter({ ...bucket, ...more }),
  'interval bucket': (more) => new TokenBucketRateLimiter({ ...bucket, refill: 'interval', ...more }),
};
const LIMITERS: Record<string, Create> = {
  ...RATES,
  'concurrency limiter': ({ clock }) => new ConcurrencyLimiter({ ...options, clock }),
};

describe.each(Object.entries(LIMITERS))('a %s', (_kind, create) => {
  it('is idle on through requests for no permits, also once somebody has waited', async () => {
    const clock = new FakeClock();
    const limiter = create({ clock });
    const held = limiter.attemptAcquire(3);
    const waiting = follow(limiter.acquire(3));
    held.dispose();
    clock.advance(300);
    await settled();
    waiting.lease!.dispose();
    clock.advance(300);
    const before = limiter.idleDurationMs!;
    clock.advance(950);
    const none = limiter.attemptAcquire(0);
    expect(none.isAcquired).toBe(true);
    clock.advance(10);
    none.dispose();
    expect(limiter.idleDurationMs).toBe(before + 960);
  });

  it('is as new after a reset, and idle since then', () => {
    const clock = new FakeClock();
    const limiter = create({ clock });
    clock.advance(50);
    limiter.attemptAcquire(1);
    clock.advance(120);
    limiter.attemptAcquire(2);
    limiter.reset();
    expect(limiter.getStatistics()).toEqual({
      currentAvailablePermits: 3,
      currentQueuedCount: 0,
      totalFailedLeases: 0,
      totalSuccessfulLeases: 0,
    });
    clock.advance(7);
    expect(limiter.idleDurationMs).toBe(7);
    expect(limiter.attemptAcquire(3).quota()).toMatchObject([{ remaining: 0 }]);
    expect(limiter.getStatistics()!.currentAvailablePermits).toBe(0);
  });
});

describe.each(Object.entries(RATES))('a %s replenished by hand', (_kind, create) => {
  it('is idle since it was full, however often it is replenished then', () => {
    const clock = new FakeClock();
    const limiter = create({ clock, autoReplenishment: false });
    clock.advance(1_200);
    limiter.tryReplenish();
    expect(limiter.idleDurationMs).toBe(1_200);
    limiter.attemptAcquire(3);
    clock.advance(250);
    limiter.tryReplenish();
    clock.advance(750);
    limiter.tryReplenish();
    clock.advance(500);
    limiter.tryReplenish();
    expect(limiter.idleDurationMs).toBe(500);
  });
});

describe('the limit on a wait', () => {
  it.each(Object.entries(RATES))('is compared with what is left of it in a %s', async (_kind, create) => {
    const clock = new FakeClock(5_000);
    const limiter = create({ clock });
    clock.advance(300_000);
    limiter.attemptAcquire(3);
    clock.advance(90);
    expect((await limiter.acquire(3, { maxWaitMs: 209 })).getMetadata(MetadataName.reasonPhrase)).toBe(
      'Wait limit reached',
    );
    const waiting = follow(limiter.acquire(3, { maxWaitMs: 210 }));
    await settled();
    expect(waiting.lease).toBeUndefined();
    clock.advance(210);
    await settled();
    expect(waiting.lease?.isAcquired).toBe(true);
  });
});

describe.each(['oldestFirst', 'newestFirst'] as const)('a queue whose limit is lowered (%s)', (order) => {
  it('still takes requests for no permits, and displaces nobody for them', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 2, queueProcessingOrder: order });
    const held = limiter.attemptAcquire();
    const waiting = [follow(limiter.acquire()), follow(limiter.acquire())];
    limiter.updateOptions({ queueLimit: 1 });
    const forNone = follow(limiter.acquire(0));
    await settled();
    expect([...waiting, forNone].map(({ lease }) => lease)).toEqual([undefined, undefined, undefined]);
    held.dispose();
    await settled();
    for (const { lease } of waiting) lease?.dispose();
    await settled();
    for (const { lease } of waiting) lease?.dispose();
    await settled();
    expect([...waiting, forNone].map(({ lease }) => lease?.isAcquired)).toEqual([true, true, true]);
  });
});

describe('a decision of several limiters', () => {
  it('is made by one reading of the clock', () => {
    // Between two readings a window could end, and one limiter be asked in the old one, the other in the new.
    let nowMs = 0;
    const clock: Clock = { now: () => (nowMs += 1), setTimer: new FakeClock().setTimer };
    const limiters = [1, 2].map(
      () => new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 100, queueLimit: 1, clock }),
    );
    for (const limiter of limiters) limiter.attemptAcquire();
    const chain = createChainedRateLimiter(...limiters);
    // Each has read twice when it was made: the first window ends at 102 ms, the second at 104.
    nowMs = 102;
    expect(chain.attemptAcquire().isAcquired).toBe(false);
    expect(limiters.map((limiter) => limiter.getStatistics().totalSuccessfulLeases)).toEqual([1, 1]);
    expect(chain.attemptAcquire().isAcquired).toBe(true);
  });
});

describe('a limiter that stands twice in a chain of partitioned ones', () => {
  const perKey = () =>
    createPartitionedRateLimiter((key: string) =>
      RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 4 })),
    );

  it('gives twice as much', () => {
    const limiter = perKey();
    const chain = createChainedPartitionedRateLimiter(limiter, limiter);
    const lease = chain.attemptAcquire('a', 2);
    expect(lease.isAcquired).toBe(true);
    expect(limiter.getStatistics('a')!.currentAvailablePermits).toBe(0);
    expect(() => chain.attemptAcquire('a', 3)).toThrow(/limit of 2/);
    lease.dispose();
    expect(limiter.getStatistics('a')!.currentAvailablePermits).toBe(4);
  });

  it('gives it once from each of two of its partitions', () => {
    const limiter = perKey();
    const twin = limiter.withTranslatedKey((key: string) => `${key}2`);
    createChainedPartitionedRateLimiter(limiter, twin).attemptAcquire('a', 3);
    expect(['a', 'a2'].map((key) => limiter.getStatistics(key)!.currentAvailablePermits)).toEqual([1, 1]);
  });
});

describe('a partition that a request of a chain has waited in', () => {
  it.each([
    [
      'a row',
      () => (key: string) =>
        RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1, queueLimit: 1 })),
    ],
    [
      'an object',
      (clock: FakeClock) => (key: string) =>
        RateLimitPartition.get(key, () => new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1, clock })),
    ],
  ])('may leave once that has ended, as %s', async (_kind, partitioner) => {
    const clock = new FakeClock();
    const [one, other] = [1, 2].map(() =>
      createPartitionedRateLimiter(partitioner(clock), { clock, idleTimeoutMs: 1_000 }),
    );
    const chain = createChainedPartitionedRateLimiter(one!, other!);
    const held = one!.attemptAcquire('key');
    const waiting = follow(chain.acquire('key'));
    clock.advance(30_000);
    held.dispose();
    await settled();
    waiting.lease!.dispose();
    expect([one!.partitionCount, other!.partitionCount]).toEqual([1, 1]);
    clock.advance(30_000);
    expect([one!.partitionCount, other!.partitionCount]).toEqual([0, 0]);
  });
});

describe('a subclass that decides by itself', () => {
  class Asked extends ConcurrencyLimiter {
    asked = 0;
    protected override acquireCore(permits: number, signal?: AbortSignal): Promise<RateLimitLease> {
      this.asked++;
      return super.acquireCore(permits, signal);
    }
  }

  class Attempted extends ConcurrencyLimiter {
    asked = 0;
    protected override attemptAcquireCore(permits: number): RateLimitLease {
      this.asked++;
      return super.attemptAcquireCore(permits);
    }
  }

  it('is asked by chains, whichever of its decisions it is', async () => {
    const [asked, attempted] = [new Asked({ permitLimit: 1 }), new Attempted({ permitLimit: 1 })];
    (await createChainedRateLimiter(asked).acquire()).dispose();
    createChainedRateLimiter(attempted).attemptAcquire();
    expect([asked.asked, attempted.asked]).toEqual([1, 1]);
  });
});

describe('the refusal of a waiter', () => {
  it('by the end of the limiter tells of no quota', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
    limiter.attemptAcquire();
    const waiting = limiter.acquire();
    limiter.dispose();
    limiter.dispose();
    expect((await waiting).quota()).toEqual([]);
  });

  it('of a chain, because a limit was lowered, says nothing of another that never could any more', async () => {
    const clock = new FakeClock();
    const running = new ConcurrencyLimiter({ permitLimit: 2, queueLimit: 5, clock });
    const rate = new SlidingWindowRateLimiter({ permitLimit: 2, windowMs: 100, segmentsPerWindow: 2, clock });
    running.attemptAcquire();
    const waiting = follow(createChainedRateLimiter(running, rate).acquire(2));
    rate.attemptAcquire();
    rate.updateOptions({ permitLimit: 1 });
    running.updateOptions({ permitLimit: 1 });
    await settled();
    expect(waiting.lease?.getMetadata(MetadataName.reasonPhrase)).toBe('Limit lowered');
  });
});

describe('the error for an option that can’t change', () => {
  const limiter = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1 });

  it.each([
    [{ clock: new FakeClock() }, /^FixedWindowRateLimiter: clock can't change .* Make a new limiter\.$/],
    [
      { permits: 5 },
      /^FixedWindowRateLimiter: there is no option permits .* are: permitLimit, windowMs, queue/,
    ],
  ])('names it, and has a code', (changes, message) => {
    expect(() => limiter.updateOptions(changes as object)).toThrow(
      expect.objectContaining({
        code: 'ERR_RL_INVALID_OPTION',
        message: expect.stringMatching(message) as string,
      }) as Error,
    );
  });

  it('says where it was given', () => {
    expect(() => limiter.updateOptions(undefined as never)).toThrow(/FixedWindowRateLimiter\.updateOptions/);
  });
});
