import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  MetadataName,
  RateLimitPartition,
} from '../index.js';
import type {
  ConcurrencyLimiterOptions,
  DefaultPartitionedRateLimiter,
  PartitionedRateLimiterOptions,
  RateLimitLease,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function follow(promise: Promise<RateLimitLease>): { lease?: RateLimitLease } {
  const progress: { lease?: RateLimitLease } = {};
  void promise.then((lease) => (progress.lease = lease));
  return progress;
}

/** Partitions whose options can be changed from outside. */
class Plans {
  readonly clock = new FakeClock();
  options: ConcurrencyLimiterOptions | Error;
  asked = 0;
  readonly limiter: DefaultPartitionedRateLimiter<string, string>;

  constructor(options: ConcurrencyLimiterOptions, more: PartitionedRateLimiterOptions<string> = {}) {
    this.options = options;
    const optionsOf = (): ConcurrencyLimiterOptions => {
      this.asked++;
      if (this.options instanceof Error) throw this.options;
      return this.options;
    };
    this.limiter = createPartitionedRateLimiter(
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, optionsOf),
      { clock: this.clock, ...more },
    );
  }
}

describe('refreshOptions', () => {
  it('asks each live partition’s factory again at its next use, once', () => {
    const plans = new Plans({ permitLimit: 1 });
    plans.limiter.attemptAcquire('a');
    plans.limiter.attemptAcquire('b');
    plans.options = { permitLimit: 3 };
    plans.limiter.refreshOptions();
    expect(plans.asked).toBe(2);
    expect(plans.limiter.attemptAcquire('a', 2).isAcquired).toBe(true);
    plans.limiter.attemptAcquire('a');
    expect(plans.asked).toBe(3);
  });

  it('keeps what is held: leases from before and after give back to the same limit', () => {
    const plans = new Plans({ permitLimit: 2 });
    const before = plans.limiter.attemptAcquire('a', 2);
    plans.options = { permitLimit: 3 };
    plans.limiter.refreshOptions();
    const after = plans.limiter.attemptAcquire('a');
    expect(after.isAcquired).toBe(true);
    expect(plans.limiter.attemptAcquire('a').isAcquired).toBe(false);
    before.dispose();
    expect(plans.limiter.getStatistics('a')).toMatchObject({ currentAvailablePermits: 2 });
    after.dispose();
    before.dispose();
    expect(plans.limiter.getStatistics('a')).toMatchObject({
      currentAvailablePermits: 3,
      totalSuccessfulLeases: 2,
      totalFailedLeases: 1,
    });
  });

  it('reaches those who wait at once', async () => {
    const plans = new Plans({ permitLimit: 1, queueLimit: 5 });
    plans.limiter.attemptAcquire('a');
    const waiter = follow(plans.limiter.acquire('a'));
    plans.options = { permitLimit: 2, queueLimit: 5 };
    plans.limiter.refreshOptions();
    await settled();
    expect(waiter.lease?.isAcquired).toBe(true);
  });

  it('asks no factory at once for those who waited and have got what they wanted', async () => {
    const plans = new Plans({ permitLimit: 1, queueLimit: 1 });
    const held = plans.limiter.attemptAcquire('a');
    const waiting = plans.limiter.acquire('a');
    held.dispose();
    (await waiting).dispose();
    const { asked } = plans;
    plans.limiter.refreshOptions();
    expect(plans.asked).toBe(asked);
    plans.limiter.attemptAcquire('a').dispose();
    expect(plans.asked).toBe(asked + 1);
  });

  it('goes by what the partitioner has said last, where somebody waits', async () => {
    const limiter = createPartitionedRateLimiter(
      (permitLimit: number) =>
        RateLimitPartition.getConcurrencyLimiter('all', () => ({ permitLimit, queueLimit: 5 })),
      { clock: new FakeClock() },
    );
    limiter.attemptAcquire(1);
    const waiters = [1, 3].map((permitLimit) => follow(limiter.acquire(permitLimit)));
    limiter.refreshOptions();
    await settled();
    expect(waiters.map(({ lease }) => lease?.isAcquired)).toEqual([true, true]);
  });

  it('refuses waiters that ask for more than the new limit', async () => {
    const plans = new Plans({ permitLimit: 2, queueLimit: 5 });
    plans.limiter.attemptAcquire('a');
    const waiter = follow(plans.limiter.acquire('a', 2));
    plans.options = { permitLimit: 1, queueLimit: 5 };
    plans.limiter.refreshOptions();
    await settled();
    expect(waiter.lease?.getMetadata(MetadataName.reasonPhrase)).toBe('Limit lowered');
  });

  it('takes an option that is no longer given as its default', async () => {
    const plans = new Plans({ permitLimit: 1, queueLimit: 5 });
    plans.limiter.attemptAcquire('a');
    plans.options = { permitLimit: 1 };
    plans.limiter.refreshOptions();
    expect((await plans.limiter.acquire('a')).isAcquired).toBe(false);
  });

  it('asks again after a factory has failed', () => {
    const plans = new Plans({ permitLimit: 1 });
    plans.limiter.attemptAcquire('a');
    plans.options = new Error('no database');
    plans.limiter.refreshOptions();
    expect(() => plans.limiter.attemptAcquire('a')).toThrow('no database');
    plans.options = { permitLimit: 2 };
    expect(plans.limiter.attemptAcquire('a').isAcquired).toBe(true);
  });

  it('tells onError where there is one, and goes on with the old numbers meanwhile', () => {
    const errors: unknown[] = [];
    const plans = new Plans({ permitLimit: 2 }, { onError: (error, key) => errors.push([error, key]) });
    plans.limiter.attemptAcquire('a');
    const broken = new Error('no database');
    plans.options = broken;
    plans.limiter.refreshOptions();
    expect(plans.limiter.attemptAcquire('a').isAcquired).toBe(true);
    expect(errors).toContainEqual([broken, 'a']);
    plans.options = { permitLimit: 3 };
    expect(plans.limiter.attemptAcquire('a').isAcquired).toBe(true);
  });

  it('changes partitions that were made since nothing', () => {
    const plans = new Plans({ permitLimit: 1 });
    plans.limiter.refreshOptions();
    plans.limiter.attemptAcquire('a');
    plans.limiter.attemptAcquire('a');
    expect(plans.asked).toBe(1);
  });

  it('works for rates: what is spent stays spent', () => {
    const clock = new FakeClock();
    let permitLimit = 5;
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.getFixedWindowLimiter(key, () => ({ permitLimit, windowMs: 1_000 })),
      { clock },
    );
    limiter.attemptAcquire('a', 5);
    permitLimit = 7;
    limiter.refreshOptions();
    expect(limiter.attemptAcquire('a', 2).isAcquired).toBe(true);
    expect(limiter.attemptAcquire('a').isAcquired).toBe(false);
    clock.advance(1_000);
    expect(limiter.attemptAcquire('a', 7).isAcquired).toBe(true);
  });

  it.each([
    ['a row of numbers', {}],
    ['an object', { clock: new FakeClock() }],
  ])(
    'asks with the key of the request that comes, where other keys are for the same partition: %s',
    async (_kept, own) => {
      const limiter = createPartitionedRateLimiter(
        (user: { readonly id: string; readonly permitLimit: number }) =>
          RateLimitPartition.getConcurrencyLimiter(user, ({ permitLimit }) => ({ permitLimit, ...own })),
        { clock: new FakeClock(), keyIdentity: ({ id }) => id },
      );
      await limiter.acquire({ id: 'ann', permitLimit: 1 });
      limiter.refreshOptions();
      expect((await limiter.acquire({ id: 'ann', permitLimit: 2 })).isAcquired).toBe(true);
    },
  );

  it('does nothing for partitions without options, and after the end', () => {
    const limiter = createPartitionedRateLimiter((key: string) => RateLimitPartition.getNoLimiter(key));
    limiter.attemptAcquire('a');
    limiter.refreshOptions();
    expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
    limiter.dispose();
    expect(() => limiter.refreshOptions()).not.toThrow();
  });

  describe('where the partitioner has another kind of limiter for a key that is in use', () => {
    const clock = new FakeClock();
    // A clock of its own leaves a limiter no place in rows of numbers.
    const own = { clock: new FakeClock() };
    const kinds: Readonly<Record<string, (key: string) => RateLimitPartition<string>>> = {
      window: (key) =>
        RateLimitPartition.getFixedWindowLimiter(key, () => ({ permitLimit: 2, windowMs: 60 })),
      'window with a clock': (key) =>
        RateLimitPartition.getFixedWindowLimiter(key, () => ({ permitLimit: 2, windowMs: 60, ...own })),
      'bucket with a clock': (key) =>
        RateLimitPartition.getTokenBucketLimiter(key, () => ({
          ...{ tokenLimit: 2, tokensPerPeriod: 1, replenishmentPeriodMs: 60, ...own },
        })),
      concurrency: (key) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 2 })),
      'no limit': (key) => RateLimitPartition.getNoLimiter(key),
      'one of the application': (key) =>
        RateLimitPartition.get(key, () => new ConcurrencyLimiter({ permitLimit: 2 })),
    };
    const changes = Object.keys(kinds).flatMap((from) => Object.keys(kinds).map((to) => [from, to] as const));

    it.each(changes.filter(([from, to]) => from !== to))(
      'goes on with that which it has: %s, not %s',
      async (from, to) => {
        let kind = from;
        const limiter = createPartitionedRateLimiter((key: string) => kinds[kind]!(key), { clock });
        limiter.attemptAcquire('a');
        kind = to;
        limiter.refreshOptions();
        const limited = from !== 'no limit';
        expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
        expect((await limiter.acquire('a')).isAcquired).toBe(!limited);
      },
    );
  });
});
