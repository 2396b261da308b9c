import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  RateLimiter,
  RateLimitPartition,
  refusedMember,
  retryAfterOfAll,
} from '../../src/index.js';
import type { DefaultPartitionedRateLimiter } from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

type Keyed = DefaultPartitionedRateLimiter<string, string>;

function window(clock: FakeClock, permitLimit: number, windowMs: number): Keyed {
  return createPartitionedRateLimiter(
    (key: string) => RateLimitPartition.getFixedWindowLimiter(key, () => ({ permitLimit, windowMs })),
    { clock },
  );
}

describe('a resource held while waiting', () => {
  it('is none: who waits for its own bucket keeps nobody else out', async () => {
    const clock = new FakeClock();
    const running = createPartitionedRateLimiter(
      () => RateLimitPartition.getConcurrencyLimiter('all', () => ({ permitLimit: 2, queueLimit: 5 })),
      { clock },
    );
    const perClient = createPartitionedRateLimiter(
      (client: string) =>
        RateLimitPartition.getTokenBucketLimiter(client, () => ({
          tokenLimit: 1,
          tokensPerPeriod: 1,
          replenishmentPeriodMs: 10_000,
          queueLimit: 5,
        })),
      { clock },
    );
    const chain = createChainedPartitionedRateLimiter<string>(running, perClient);
    const first = await chain.acquire('a');
    const waiting = [chain.acquire('a'), chain.acquire('a')];
    await settled();
    expect(running.getStatistics('a')?.currentAvailablePermits).toBe(1);
    clock.advance(50);
    first.dispose();
    clock.advance(50);
    const other = await chain.acquire('b');
    expect(other.isAcquired).toBe(true);
    expect(running.getStatistics('b')?.currentAvailablePermits).toBe(1);
    chain.dispose();
    await Promise.all(waiting);
  });
});

describe('a refusal that spends what the limits before it have', () => {
  it.each([
    ['daily limit first', (daily: RateLimiter, perSecond: RateLimiter) => [daily, perSecond]],
    ['daily limit last', (daily: RateLimiter, perSecond: RateLimiter) => [perSecond, daily]],
  ])('is none: fifty requests in one second cost one of the day, the %s', (_which, order) => {
    const clock = new FakeClock();
    const daily = new FixedWindowRateLimiter({ permitLimit: 100, windowMs: 86_400_000, clock });
    const perSecond = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1_000, clock });
    const chain = createChainedRateLimiter(...order(daily, perSecond));
    const granted = Array.from({ length: 50 }, () => chain.attemptAcquire().isAcquired).filter(Boolean);
    expect(granted).toHaveLength(1);
    expect(daily.getStatistics().currentAvailablePermits).toBe(99);
  });
});

describe('a leak where a later limiter throws', () => {
  class Throwing extends RateLimiter {
    override get idleDurationMs(): null {
      return null;
    }

    override getStatistics(): null {
      return null;
    }

    protected override acquireCore(): never {
      throw new Error('the store is gone');
    }

    protected override attemptAcquireCore(): never {
      throw new Error('the store is gone');
    }
  }

  it('is none: the earlier ones have everything back, and the array of the caller is no part of the chain', () => {
    const running = new ConcurrencyLimiter({ permitLimit: 3 });
    const members: RateLimiter[] = [running, new Throwing()];
    const chain = createChainedRateLimiter(...members);
    members.push(new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 1 }));
    for (let request = 0; request < 10; request++)
      expect(() => chain.attemptAcquire()).toThrow('the store is gone');
    expect(running.getStatistics().currentAvailablePermits).toBe(3);
  });
});

describe('a refusal that can’t be told apart', () => {
  const request = 'the client';

  it('names the member, and when all of them would let the request pass', () => {
    const clock = new FakeClock();
    const limits = [window(clock, 10, 1_000), window(clock, 1, 5_000), window(clock, 10, 2_000)];
    const chain = createChainedPartitionedRateLimiter(...limits);
    chain.attemptAcquire(request);
    const refused = chain.attemptAcquire(request);
    expect(refusedMember(refused)).toBe(1);
    expect(refused.getMetadata('RETRY_AFTER')).toBe(5_000);
    expect(retryAfterOfAll(refused)).toBe(5_000);
  });

  it('is spared those whom every member gives no limit', () => {
    const clock = new FakeClock();
    const free = (permitLimit: number): Keyed =>
      createPartitionedRateLimiter(
        (key: string) =>
          key === 'monitoring'
            ? RateLimitPartition.getNoLimiter(key)
            : RateLimitPartition.getFixedWindowLimiter('others', () => ({ permitLimit, windowMs: 1_000 })),
        { clock },
      );
    const limits = [free(3), free(2), free(1)];
    const chain = createChainedPartitionedRateLimiter(...limits);
    const granted = Array.from({ length: 1_000 }, () => chain.attemptAcquire('monitoring').isAcquired);
    expect(granted.every(Boolean)).toBe(true);
    const left = limits.map((limit) => limit.getStatistics('somebody')?.currentAvailablePermits);
    expect(left).toEqual([3, 2, 1]);
  });
});

describe('one reset shared by all keys', () => {
  it('is none: each window begins with its key', () => {
    const clock = new FakeClock();
    const limiter = window(clock, 1, 60_000);
    limiter.attemptAcquire('a');
    clock.advance(59_000);
    limiter.attemptAcquire('b');
    clock.advance(1_000);
    expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
    expect(limiter.attemptAcquire('b').isAcquired).toBe(false);
    clock.advance(58_999);
    expect(limiter.attemptAcquire('b').isAcquired).toBe(false);
    clock.advance(1);
    expect(limiter.attemptAcquire('b').isAcquired).toBe(true);
  });

  it('and the sweep of a short policy leave a long one alone', () => {
    const clock = new FakeClock();
    const [short, long] = [window(clock, 1, 1_000), window(clock, 1, 86_400_000)];
    long.attemptAcquire('a');
    for (let second = 0; second < 120; second++) {
      short.attemptAcquire('a');
      clock.advance(1_000);
    }
    expect(long.attemptAcquire('a').isAcquired).toBe(false);
  });
});

describe('an eviction against the rule', () => {
  it('never disposes a limiter in use: 10,000 attempts that race with the sweep meet none', () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })),
      { clock, idleTimeoutMs: 100 },
    );
    const held = limiter.attemptAcquire('held');
    let refused = 0;
    for (let attempt = 0; attempt < 10_000; attempt++) {
      const lease = limiter.attemptAcquire(`${attempt % 3}`);
      if (!lease.isAcquired) refused++;
      lease.dispose();
      // Around the idle timeout, and around the beat of the sweep.
      clock.advance(30 + (attempt % 80));
    }
    expect(refused).toBe(0);
    expect(limiter.attemptAcquire('held').isAcquired).toBe(false);
    held.dispose();
    clock.advance(400);
    expect(limiter.partitionCount).toBe(0);
  });

  it('forgives no debt, in a chain either', () => {
    const clock = new FakeClock();
    const hourly = window(clock, 2, 3_600_000);
    const running = createPartitionedRateLimiter(
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 5 })),
      { clock },
    );
    const chain = createChainedPartitionedRateLimiter<string>(running, hourly);
    chain.attemptAcquire('a', 2).dispose();
    clock.advance(600_000);
    expect(chain.attemptAcquire('a').isAcquired).toBe(false);
    expect(running.partitionCount).toBe(1);
    clock.advance(3_000_000 + 20_000);
    expect([running.partitionCount, hourly.partitionCount]).toEqual([0, 0]);
  });
});

describe('an error that is not isolated', () => {
  class Failing extends FixedWindowRateLimiter {
    override tryReplenish(): boolean {
      throw new Error('the store is gone');
    }
  }

  it('stops none of the other 99 limiters, and is told each time', async () => {
    const clock = new FakeClock();
    const errors: unknown[] = [];
    const options = { permitLimit: 1, windowMs: 250, queueLimit: 1, autoReplenishment: false, clock };
    const limiter = createPartitionedRateLimiter(
      (key: number) =>
        RateLimitPartition.get(key, () =>
          key === 7 ? new Failing(options) : new FixedWindowRateLimiter(options),
        ),
      { clock, onError: (_error, key) => errors.push(key) },
    );
    let served = 0;
    for (let key = 0; key < 100; key++) {
      limiter.attemptAcquire(key);
      void limiter.acquire(key).then(({ isAcquired }) => (served += isAcquired ? 1 : 0));
    }
    clock.advance(400);
    await settled();
    expect(served).toBe(99);
    expect(new Set(errors)).toEqual(new Set([7]));
    expect(errors.length).toBeGreaterThanOrEqual(4);
    limiter.dispose();
  });

  it('keeps none of the others from ending, and all that failed are told together', () => {
    const ended: number[] = [];
    class Ending extends FixedWindowRateLimiter {
      readonly #key: number;

      constructor(key: number) {
        super({ permitLimit: 1, windowMs: 250 });
        this.#key = key;
      }

      override dispose(): void {
        super.dispose();
        ended.push(this.#key);
        if (this.#key % 50 === 7) throw new Error(`number ${this.#key}`);
      }
    }
    const limiter = createPartitionedRateLimiter((key: number) =>
      RateLimitPartition.get(key, () => new Ending(key)),
    );
    for (let key = 0; key < 100; key++) limiter.attemptAcquire(key);
    const errors = (() => {
      try {
        limiter.dispose();
        return [];
      } catch (error) {
        return (error as AggregateError).errors as Error[];
      }
    })();
    expect(errors.map(({ message }) => message)).toEqual(['number 7', 'number 57']);
    expect(ended).toHaveLength(100);
  });
});
