import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  DefaultPartitionedRateLimiter,
  RateLimitPartition,
} from '../index.js';
import type { PartitionedRateLimiter, RateLimitLease, RateLimitPartition as Partition } from '../index.js';
import { FakeClock } from '../testing/index.js';
import { acquireOrWait } from './acquire-or-wait.js';

const ONE = { permitLimit: 1, windowMs: 1_000, queueLimit: 1 };
const DISPOSED = expect.objectContaining({ code: 'ERR_RL_OBJECT_DISPOSED' });

/** Makes the limiter of a key, after something else has been done. */
type Making = (key: string, first: () => void) => Partition<string>;

const made: ConcurrencyLimiter[] = [];

const makings: [string, Making][] = [
  [
    'rows',
    (key, first) =>
      RateLimitPartition.getFixedWindowLimiter(key, () => {
        first();
        return ONE;
      }),
  ],
  [
    'limiters',
    (key, first) =>
      RateLimitPartition.get(key, () => {
        first();
        const limiter = new ConcurrencyLimiter({ permitLimit: 1 });
        made.push(limiter);
        return limiter;
      }),
  ],
];

function only<T>(items: readonly T[]): T {
  expect(items).toHaveLength(1);
  return items[0]!;
}

beforeEach(() => void made.splice(0));

describe.each(makings)(
  'a factory that uses the limiter which it makes a partition for (%s)',
  (name, make) => {
    it('asks for its own key: both requests count on one partition', () => {
      let within: RateLimitLease | null = null;
      let depth = 0;
      const limiter = createPartitionedRateLimiter((key: string) =>
        make(key, () => {
          if (depth++ === 0) within = limiter.attemptAcquire(key);
        }),
      );

      const outer = limiter.attemptAcquire('a');
      expect([within!.isAcquired, outer.isAcquired]).toEqual([true, false]);
      expect(limiter.partitionCount).toBe(1);
      // The limiter that came too late has ended; the other lives.
      if (name === 'limiters') {
        expect(() => made[1]!.attemptAcquire()).toThrow(DISPOSED);
        expect(made[0]!.getStatistics().totalSuccessfulLeases).toBe(1);
      }
      limiter.dispose();
    });

    it('takes the last place for another key: there is none for its own', () => {
      let depth = 0;
      const limiter = createPartitionedRateLimiter(
        (key: string) =>
          make(key, () => {
            if (depth++ === 0) limiter.attemptAcquire('b');
          }),
        { maxPartitions: 1 },
      );

      expect(limiter.attemptAcquire('a').getMetadata('REASON_PHRASE')).toBe('Partition limit reached');
      expect(limiter.partitionCount).toBe(1);
      limiter.dispose();
    });

    it('ends the limiter: the call is told, and nothing of it lives on', async () => {
      const clock = new FakeClock();
      const limiter = createPartitionedRateLimiter((key: string) => make(key, () => limiter.dispose()), {
        clock,
      });

      await expect(limiter.acquire('a')).rejects.toEqual(DISPOSED);
      if (name === 'limiters') expect(() => only(made).attemptAcquire()).toThrow(DISPOSED);
      expect(clock.pendingTimers).toBe(0);
    });
  },
);

describe('a limiter that is ended while it finds out whom a request counts for', () => {
  const known = (dispose: (limiter: PartitionedRateLimiter<string>) => void): (() => RateLimitLease) => {
    let isEnding = false;
    const limiter = createPartitionedRateLimiter((key: string) => {
      if (isEnding) dispose(limiter);
      return RateLimitPartition.getFixedWindowLimiter(key, () => ({ ...ONE, permitLimit: 9 }));
    });
    limiter.attemptAcquire('a');
    isEnding = true;
    return () => limiter.attemptAcquire('a');
  };

  it('grants nothing any more, on keys that it knows either', () => {
    expect(known((limiter) => limiter.dispose())).toThrow(DISPOSED);
    // The same without the end.
    expect(known(() => undefined)().isAcquired).toBe(true);
  });
});

describe('a subclass that decides by itself', () => {
  /** Notes who asks. */
  class Audited extends DefaultPartitionedRateLimiter<string, string> {
    readonly seen: string[] = [];

    protected override attemptAcquireCore(resource: string, permitCount: number): RateLimitLease {
      this.seen.push(`attempt ${resource}`);
      return super.attemptAcquireCore(resource, permitCount);
    }

    protected override acquireCore(
      resource: string,
      permitCount: number,
      signal?: AbortSignal,
    ): Promise<RateLimitLease> {
      this.seen.push(`acquire ${resource}`);
      return super.acquireCore(resource, permitCount, signal);
    }
  }

  const many = (key: string): Partition<string> =>
    RateLimitPartition.getFixedWindowLimiter(key, () => ({ ...ONE, permitLimit: 9 }));

  it('is asked in chains too', async () => {
    const audited = new Audited(many);
    const chain = createChainedPartitionedRateLimiter(audited, createPartitionedRateLimiter(many));

    expect(chain.attemptAcquire('ann').isAcquired).toBe(true);
    expect((await chain.acquire('ben')).isAcquired).toBe(true);
    expect(audited.seen).toEqual(['attempt ann', 'acquire ben']);
    audited.dispose();
  });

  it('is asked where an answer without a promise would do', async () => {
    const audited = new Audited(many);
    const lease = await audited[acquireOrWait]('ann', 1, () => ({ maxWaitMs: Infinity, signal: undefined }));

    expect(lease.isAcquired).toBe(true);
    expect(audited.seen).toEqual(['acquire ann']);
    audited.dispose();
  });
});

describe('a translating limiter that decides by itself', () => {
  it('is asked in chains too', () => {
    const inner = createPartitionedRateLimiter((key: string) =>
      RateLimitPartition.getFixedWindowLimiter(key, () => ({ ...ONE, permitLimit: 9 })),
    );
    const translated = inner.withTranslatedKey((user: { name: string }) => user.name);
    const seen: string[] = [];
    const core = (
      translated as unknown as { attemptAcquireCore: (user: object, n: number) => RateLimitLease }
    ).attemptAcquireCore;
    Object.assign(translated, {
      attemptAcquireCore(user: { name: string }, permits: number) {
        seen.push(user.name);
        return core.call(translated, user, permits);
      },
    });

    expect(createChainedPartitionedRateLimiter(translated).attemptAcquire({ name: 'ann' }).isAcquired).toBe(
      true,
    );
    expect(seen).toEqual(['ann']);
    translated.dispose();
  });
});
