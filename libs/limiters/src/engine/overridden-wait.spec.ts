import type { RateLimiter, RateLimitLease } from '../index.js';
import {
  ChainedRateLimiter,
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  DefaultPartitionedRateLimiter,
  FixedWindowRateLimiter,
  ManagedLifetimeLimiter,
  RateLimitPartition,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

const clock = new FakeClock();
const oneAtATime = { permitLimit: 1, queueLimit: 1, clock };
const partitioned = () =>
  createPartitionedRateLimiter((key: string) =>
    RateLimitPartition.getConcurrencyLimiter(key, () => oneAtATime),
  );

type Acquire = (maxWaitMs: number | undefined) => Promise<RateLimitLease>;

describe('a subclass that overrides acquireWithin alone', () => {
  it.each<[string, (own: () => Promise<RateLimitLease>) => RateLimiter]>([
    [
      'a concurrency limiter',
      (own) =>
        new (class extends ConcurrencyLimiter {
          protected override acquireWithin = own;
        })(oneAtATime),
    ],
    [
      'a rate',
      (own) =>
        new (class extends FixedWindowRateLimiter {
          protected override acquireWithin = own;
        })({ permitLimit: 2, windowMs: 1_000, clock }),
    ],
    [
      'a chain',
      (own) =>
        new (class extends ChainedRateLimiter {
          protected override acquireWithin = own;
        })([new ConcurrencyLimiter(oneAtATime)]),
    ],
    [
      'a managed limiter',
      (own) =>
        new (class extends ManagedLifetimeLimiter {
          protected override acquireWithin = own;
        })(new ConcurrencyLimiter(oneAtATime)),
    ],
  ])('is asked in a chain: %s', async (_kind, make) => {
    const refusal = new ConcurrencyLimiter({ permitLimit: 1, clock });
    refusal.attemptAcquire();
    const chain = createChainedRateLimiter(
      new ConcurrencyLimiter(oneAtATime),
      make(async () => refusal.attemptAcquire()),
    );
    expect((await chain.acquire(1, { maxWaitMs: 5 })).isAcquired).toBe(false);
    expect((await chain.acquire(1)).isAcquired).toBe(true);
  });

  it('is asked in a chain: a partitioned limiter', async () => {
    class Own extends DefaultPartitionedRateLimiter<string, string> {
      protected override async acquireWithin(): Promise<RateLimitLease> {
        throw new Error('Asked.');
      }
    }
    const own = new Own((key) => RateLimitPartition.getConcurrencyLimiter(key, () => oneAtATime), { clock });
    const chain = createChainedPartitionedRateLimiter(partitioned(), own);
    await expect(chain.acquire('ann', 1, { maxWaitMs: 5 })).rejects.toThrow('Asked.');
    expect((await chain.acquire('ann')).isAcquired).toBe(true);
  });
});

describe('a core that answers without a promise', () => {
  const lease = new ConcurrencyLimiter({ permitLimit: 1, clock }).attemptAcquire();
  const limiters = (answer: unknown): Acquire[] => {
    const own = (): never => answer as never;
    class One extends ConcurrencyLimiter {
      protected override acquireCore = own;
      protected override acquireWithin = own;
    }
    class Table extends DefaultPartitionedRateLimiter<string, string> {
      protected override acquireCore = own;
      protected override acquireWithin = own;
    }
    const table = new Table(() => RateLimitPartition.getNoLimiter(''));
    return [
      (maxWaitMs) => new One(oneAtATime).acquire(1, { maxWaitMs }),
      (maxWaitMs) => table.acquire('ann', 1, { maxWaitMs }),
    ];
  };

  it.each([undefined, 5])('is answered for with one, with a limit of the wait of %p', async (maxWaitMs) => {
    for (const acquire of limiters(lease)) {
      const answer = acquire(maxWaitMs);
      expect(answer).toBeInstanceOf(Promise);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await answer).toBe(lease);
    }
    // oxlint-disable-next-line unicorn/no-thenable -- that is the point
    const thenable = { then: (resolve: (value: RateLimitLease) => void) => resolve(lease) };
    for (const acquire of limiters(thenable)) {
      const answer = acquire(maxWaitMs);
      expect(answer).toBeInstanceOf(Promise);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await answer).toBe(lease);
    }
  });

  it.each([undefined, null, true])('rejects where that is no lease: %p', async (answer) => {
    for (const acquire of limiters(answer)) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(acquire(undefined)).rejects.toMatchObject({
        code: 'ERR_RL_INVALID_ARGUMENT',
        message: expect.stringMatching(
          /^acquireCore of (One|Table) must answer with a lease, but got /,
        ) as string,
      });
    }
  });
});
