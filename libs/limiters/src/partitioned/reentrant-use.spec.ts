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
const PARTITIONS_DISPOSED = expect.objectContaining({
  message: expect.stringMatching(/^PartitionedRateLimiter was disposed/) as string,
});

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
      const errors: unknown[] = [];
      let depth = 0;
      const limiter = createPartitionedRateLimiter(
        (key: string) =>
          make(key, () => {
            if (depth++ === 0) limiter.attemptAcquire('b');
          }),
        { maxPartitions: 1, onError: (error) => errors.push(error) },
      );

      expect(limiter.attemptAcquire('a').getMetadata('REASON_PHRASE')).toBe('Partition limit reached');
      expect(limiter.partitionCount).toBe(1);
      expect(errors).toEqual([]);
      limiter.dispose();
    });

    it('asks for another key: both have a partition', () => {
      let depth = 0;
      const limiter = createPartitionedRateLimiter((key: string) =>
        make(key, () => {
          if (depth++ === 0) limiter.attemptAcquire('b');
        }),
      );

      expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
      expect(['a', 'b'].map((key) => limiter.attemptAcquire(key).isAcquired)).toEqual([false, false]);
      expect(limiter.partitionCount).toBe(2);
      limiter.dispose();
    });

    it('ends the limiter: the call is told, and nothing of it lives on', async () => {
      const clock = new FakeClock();
      const limiter = createPartitionedRateLimiter((key: string) => make(key, () => limiter.dispose()), {
        clock,
      });

      await expect(limiter.acquire('a')).rejects.toEqual(PARTITIONS_DISPOSED);
      if (name === 'limiters') expect(() => only(made).attemptAcquire()).toThrow(DISPOSED);
      expect(clock.pendingTimers).toBe(0);
    });
  },
);

describe('a limiter of a partition that uses the partitions', () => {
  /** Does something when it ends, or when it is asked how idle it is. */
  class Meddling extends ConcurrencyLimiter {
    onEnd: () => void = () => undefined;
    onAsked: () => void = () => undefined;

    override get idleDurationMs(): number | null {
      this.onAsked();
      return super.idleDurationMs;
    }

    override dispose(): void {
      super.dispose();
      this.onEnd();
    }
  }

  function meddled(maxPartitions: number) {
    const clock = new FakeClock();
    const limiters = new Map<string, Meddling>();
    const errors: unknown[][] = [];
    const partitions = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.get(key, () => {
          const limiter = new Meddling({ permitLimit: 1, clock });
          limiters.set(key, limiter);
          return limiter;
        }),
      { clock, idleTimeoutMs: 1_000, maxPartitions, onError: (...error) => errors.push(error) },
    );
    return { clock, limiters, partitions, errors };
  }

  it.each([
    ['that has outlived its timeout', 'a', 2],
    ['that has to make room', 'b', 1],
  ])('at its end, one %s: requests count on one partition, within the cap', (_what, first, cap) => {
    const { clock, limiters, partitions } = meddled(cap);
    let within: RateLimitLease | null = null;
    partitions.attemptAcquire(first).dispose();
    limiters.get(first)!.onEnd = () => (within = partitions.attemptAcquire('a'));
    clock.skip(1_500);
    expect([partitions.attemptAcquire('a').isAcquired, within!.isAcquired]).toEqual([false, true]);
    expect(partitions.partitionCount).toBe(1);
  });

  it('at its end, for another key: the one that was asked for at first has no place any more', () => {
    const { clock, limiters, partitions } = meddled(1);
    partitions.attemptAcquire('b').dispose();
    limiters.get('b')!.onEnd = () => void partitions.attemptAcquire('c');
    clock.skip(1_500);
    expect(partitions.attemptAcquire('a').getMetadata('REASON_PHRASE')).toBe('Partition limit reached');
    expect(() => limiters.get('a')!.attemptAcquire()).toThrow(DISPOSED);
    expect(partitions.partitionCount).toBe(1);
  });

  it('to end them while it is asked whether it can go: nothing lives on', () => {
    const { clock, limiters, partitions } = meddled(1);
    partitions.attemptAcquire('b').dispose();
    clock.skip(1_500);
    limiters.get('b')!.onAsked = () => partitions.dispose();
    expect(() => partitions.attemptAcquire('a')).toThrow(DISPOSED);
    for (const limiter of limiters.values()) expect(() => limiter.attemptAcquire()).toThrow(DISPOSED);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([true, false])(
    'fails to end where it came too late, which is reported if wanted: %s',
    (isWanted) => {
      const errors: unknown[][] = [];
      let depth = 0;
      const partitions = createPartitionedRateLimiter(
        (key: string) =>
          RateLimitPartition.get(key, () => {
            if (depth++ === 0) partitions.attemptAcquire(key);
            const limiter = new Meddling({ permitLimit: 1 });
            limiter.onEnd = () => {
              throw new Error('stuck');
            };
            return limiter;
          }),
        isWanted ? { onError: (...error) => errors.push(error) } : {},
      );
      expect(partitions.attemptAcquire('a').isAcquired).toBe(false);
      expect(errors).toEqual(isWanted ? [[new Error('stuck'), 'a']] : []);
    },
  );
});

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
    expect(known((limiter) => limiter.dispose())).toThrow(PARTITIONS_DISPOSED);
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
