import type { AsyncRateLimiter, RateLimiter, RateLimitLease } from '../index.js';
import {
  ChainedPartitionedRateLimiter,
  ChainedRateLimiter,
  ConcurrencyLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  DefaultPartitionedRateLimiter,
  FixedWindowRateLimiter,
  LinkedLeaseRateLimiter,
  ManagedLifetimeLimiter,
  RateLimitPartition,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
  TranslatingRateLimiter,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

const clock = new FakeClock();
const oneAtATime = { permitLimit: 1, queueLimit: 1, clock };
const partitioned = () =>
  createPartitionedRateLimiter((key: string) =>
    RateLimitPartition.getConcurrencyLimiter(key, () => oneAtATime),
  );

/** What the overridden `acquireCore` of each class has been asked for. */
let asked: unknown[] = [];
beforeEach(() => {
  asked = [];
});

class OwnConcurrency extends ConcurrencyLimiter {
  protected override acquireCore(...given: [number, AbortSignal?]): Promise<RateLimitLease> {
    asked.push(given[0]);
    return super.acquireCore(...given);
  }
}

class OwnWindow extends FixedWindowRateLimiter {
  protected override acquireCore(...given: [number, AbortSignal?]): Promise<RateLimitLease> {
    asked.push(given[0]);
    return super.acquireCore(...given);
  }
}

class OwnChain extends ChainedRateLimiter {
  protected override acquireCore(...given: [number, AbortSignal?]): Promise<RateLimitLease> {
    asked.push(given[0]);
    return super.acquireCore(...given);
  }
}

class OwnManaged extends ManagedLifetimeLimiter {
  protected override acquireCore(...given: [number, AbortSignal?]): Promise<RateLimitLease> {
    asked.push(given[0]);
    return super.acquireCore(...given);
  }
}

class OwnTable extends DefaultPartitionedRateLimiter<string, string> {
  protected override acquireCore(...given: [string, number, AbortSignal?]): Promise<RateLimitLease> {
    asked.push(given[1]);
    return super.acquireCore(...given);
  }
}

class OwnPartitionedChain extends ChainedPartitionedRateLimiter<string> {
  protected override acquireCore(...given: [string, number, AbortSignal?]): Promise<RateLimitLease> {
    asked.push(given[1]);
    return super.acquireCore(...given);
  }
}

class OwnTranslation extends TranslatingRateLimiter<string, string> {
  protected override acquireCore(...given: [string, number, AbortSignal?]): Promise<RateLimitLease> {
    asked.push(given[1]);
    return super.acquireCore(...given);
  }
}

class OwnLinks extends LinkedLeaseRateLimiter<string> {
  protected override getLeaseStore(): null {
    return null;
  }

  protected override acquireCore(...given: [string, number, AbortSignal?]): Promise<RateLimitLease> {
    asked.push(given[1]);
    return super.acquireCore(...given);
  }
}

type Acquire = (maxWaitMs: number | undefined) => Promise<RateLimitLease>;

const ofLimiter =
  (limiter: AsyncRateLimiter): Acquire =>
  (maxWaitMs) =>
    limiter.acquire(1, { maxWaitMs });
const ofPartitioned =
  (limiter: Pick<DefaultPartitionedRateLimiter<string, string>, 'acquire'>): Acquire =>
  (maxWaitMs) =>
    limiter.acquire('ann', 1, { maxWaitMs });

const KINDS: Record<string, () => Acquire> = {
  'a concurrency limiter': () => ofLimiter(new OwnConcurrency(oneAtATime)),
  'a rate': () => ofLimiter(new OwnWindow({ permitLimit: 2, windowMs: 1_000, queueLimit: 1, clock })),
  'a chain': () => ofLimiter(new OwnChain([new ConcurrencyLimiter(oneAtATime)])),
  'a managed limiter': () => ofLimiter(new OwnManaged(new ConcurrencyLimiter(oneAtATime))),
  'a partitioned limiter': () =>
    ofPartitioned(
      new OwnTable((key) => RateLimitPartition.getConcurrencyLimiter(key, () => oneAtATime), { clock }),
    ),
  'a partitioned chain': () => ofPartitioned(new OwnPartitionedChain([partitioned()])),
  'a translated limiter': () => ofPartitioned(new OwnTranslation(partitioned(), (key) => key, false)),
  'a linked limiter': () => ofPartitioned(new OwnLinks(partitioned())),
};

describe.each(Object.entries(KINDS))('a subclass of %s that overrides acquireCore alone', (_, make) => {
  it('is asked with and without a limit of the wait', async () => {
    const acquire = make();
    const first = await acquire(undefined);
    expect(first.isAcquired).toBe(true);
    expect(asked).toEqual([1]);
    first.dispose();
    await acquire(5);
    expect(asked).toEqual([1, 1]);
  });
});

describe('a subclass that overrides acquireCore alone', () => {
  it('waits by the clock of its limiter', async () => {
    const limiter = new OwnConcurrency(oneAtATime);
    const held = await limiter.acquire();
    const waiting = limiter.acquire(1, { maxWaitMs: 60_000 });
    clock.advance(60_000);
    expect((await waiting).getMetadata('REASON_PHRASE')).toBe('Wait limit reached');
    held.dispose();
  });
});

describe('a subclass that overrides acquireWithin as well', () => {
  it('is not asked twice', async () => {
    class Both extends OwnConcurrency {
      protected override acquireWithin(...given: [number, number, AbortSignal?]): Promise<RateLimitLease> {
        return super.acquireWithin(...given);
      }
    }
    const lease = await new Both(oneAtATime).acquire(1, { maxWaitMs: 5 });
    expect(lease.isAcquired).toBe(true);
    expect(asked).toEqual([]);
  });
});

describe('a subclass that asks its core for other counts than the request', () => {
  const all = {
    permitLimit: 5,
    windowMs: 1_000,
    tokenLimit: 5,
    tokensPerPeriod: 5,
    replenishmentPeriodMs: 1_000,
  };
  class HeavyWindow extends FixedWindowRateLimiter {
    protected override attemptAcquireCore(permits: number): RateLimitLease {
      return super.attemptAcquireCore(3 * permits);
    }
  }
  class HeavySlidingWindow extends SlidingWindowRateLimiter {
    protected override attemptAcquireCore(permits: number): RateLimitLease {
      return super.attemptAcquireCore(3 * permits);
    }
  }
  class HeavyBucket extends TokenBucketRateLimiter {
    protected override attemptAcquireCore(permits: number): RateLimitLease {
      return super.attemptAcquireCore(3 * permits);
    }
  }
  class HeavyConcurrency extends ConcurrencyLimiter {
    protected override attemptAcquireCore(permits: number): RateLimitLease {
      return super.attemptAcquireCore(3 * permits);
    }
  }

  it.each<[string, (own: FakeClock) => RateLimiter]>([
    ['a concurrency limiter', (own) => new HeavyConcurrency({ ...all, clock: own })],
    ['a fixed window', (own) => new HeavyWindow({ ...all, clock: own })],
    ['a sliding window', (own) => new HeavySlidingWindow({ ...all, segmentsPerWindow: 2, clock: own })],
    ['a greedy bucket', (own) => new HeavyBucket({ ...all, clock: own })],
    ['an interval bucket', (own) => new HeavyBucket({ ...all, refill: 'interval', clock: own })],
  ])('is never given more than the limit: %s', (_kind, make) => {
    const own = new FakeClock();
    const limiter = make(own);
    expect(limiter.attemptAcquire(2).isAcquired).toBe(false);
    own.advance(5_000);
    expect(limiter.attemptAcquire(2).isAcquired).toBe(false);
    expect(limiter.getStatistics()!.currentAvailablePermits).toBe(5);
    expect(limiter.attemptAcquire(1).isAcquired).toBe(true);
    expect(limiter.getStatistics()!.currentAvailablePermits).toBe(2);
  });
});

describe('a subclass in a chain', () => {
  const inChain = (member: RateLimiter): RateLimiter =>
    createChainedRateLimiter(new ConcurrencyLimiter(oneAtATime), member);

  it('of a managed limiter decides by itself', async () => {
    class Deciding extends OwnManaged {
      protected override attemptAcquireCore(permits: number): RateLimitLease {
        asked.push(permits);
        return super.attemptAcquireCore(permits);
      }
    }
    const managed = new Deciding(new ConcurrencyLimiter(oneAtATime));
    managed.attemptAcquire().dispose();
    inChain(managed).attemptAcquire().dispose();
    (await inChain(managed).acquire()).dispose();
    expect(asked).toEqual([1, 1, 1]);
  });

  it.each<[string, (own: () => void) => RateLimiter]>([
    [
      'a concurrency limiter',
      (check) =>
        new (class extends ConcurrencyLimiter {
          protected override assertAcquirable = check;
        })(oneAtATime),
    ],
    [
      'a rate',
      (check) =>
        new (class extends FixedWindowRateLimiter {
          protected override assertAcquirable = check;
        })({ permitLimit: 2, windowMs: 1_000, clock }),
    ],
    [
      'a managed limiter',
      (check) =>
        new (class extends ManagedLifetimeLimiter {
          protected override assertAcquirable = check;
        })(new ConcurrencyLimiter(oneAtATime)),
    ],
  ])('of %s makes its own checks', async (_kind, make) => {
    const limiter = make(() => {
      throw new RangeError('Not that many.');
    });
    for (const one of [limiter, inChain(limiter)]) {
      expect(() => one.attemptAcquire()).toThrow('Not that many.');
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(one.acquire()).rejects.toThrow('Not that many.');
    }
  });
});
