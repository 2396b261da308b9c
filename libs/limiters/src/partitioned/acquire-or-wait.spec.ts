import { stateOf } from '../../conformance/linked/visits.js';
import { createChainedPartitionedRateLimiter } from '../chained/chained-partitioned-rate-limiter.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import { ConcurrencyLimiter } from '../concurrency/concurrency-limiter.js';
import { FakeClock } from '../testing/index.js';
import { acquireOrWait } from './acquire-or-wait.js';
import type { AcquiresOrWaits } from './acquire-or-wait.js';
import { createPartitionedRateLimiter } from './default-partitioned-rate-limiter.js';
import type { PartitionedRateLimiter, WaitLimits } from './partitioned-rate-limiter.js';
import { RateLimitPartition } from './rate-limit-partition.js';

const noWait = (): never => {
  throw new Error('nobody has to wait');
};

describe('a partitioned limiter that answers without a promise where nobody has to wait', () => {
  it('grants and refuses at once, and counts each once', () => {
    const limiter = createPartitionedRateLimiter(() =>
      RateLimitPartition.getConcurrencyLimiter('k', () => ({ permitLimit: 1 })),
    );
    const granted = limiter[acquireOrWait]('r', 1, noWait) as RateLimitLease;
    const refused = limiter[acquireOrWait]('r', 1, noWait) as RateLimitLease;
    expect([granted.isAcquired, refused.isAcquired]).toEqual([true, false]);
    expect(limiter.getStatistics('r')).toMatchObject({ totalSuccessfulLeases: 1, totalFailedLeases: 1 });
  });

  it('promises what has to wait, bounded by what it is told then', async () => {
    const limiter = createPartitionedRateLimiter(() =>
      RateLimitPartition.getConcurrencyLimiter('k', () => ({ permitLimit: 1, queueLimit: 2 })),
    );
    const first = limiter[acquireOrWait]('r', 1, noWait) as RateLimitLease;
    const left = new AbortController();
    const gone = limiter[acquireOrWait]('r', 1, () => ({ signal: left.signal, maxWaitMs: Infinity }));
    const second = limiter[acquireOrWait]('r', 1, () => ({ signal: undefined, maxWaitMs: Infinity }));
    left.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    first.dispose();
    expect((await second).isAcquired).toBe(true);
  });

  it('promises the answer of a limiter that it didn’t make', async () => {
    const limiter = createPartitionedRateLimiter(() =>
      RateLimitPartition.get('k', () => new ConcurrencyLimiter({ permitLimit: 1 })),
    );
    const answer = limiter[acquireOrWait]('r', 1, () => ({ signal: undefined, maxWaitMs: Infinity }));
    expect(answer).toBeInstanceOf(Promise);
    expect((await answer).isAcquired).toBe(true);
  });

  it('throws for misuse, and after its end', () => {
    const limiter = createPartitionedRateLimiter(() =>
      RateLimitPartition.getConcurrencyLimiter('k', () => ({ permitLimit: 1 })),
    );
    expect(() => limiter[acquireOrWait]('r', 2, noWait)).toThrow(
      expect.objectContaining({ code: 'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT' }),
    );
    limiter.dispose();
    expect(() => limiter[acquireOrWait]('r', 1, noWait)).toThrow(
      expect.objectContaining({ code: 'ERR_RL_OBJECT_DISPOSED' }),
    );
  });
});

type Asked = PartitionedRateLimiter<string> & AcquiresOrWaits<string>;

const unbounded: WaitLimits = { signal: undefined, maxWaitMs: Infinity };

describe.each([
  ['a partitioned limiter', (limiter: Asked): Asked => limiter],
  ['a chain', (limiter: Asked): Asked => createChainedPartitionedRateLimiter(limiter)],
])('%s that asks what bounds a wait', (_, around) => {
  /** One permit, which is held, and room for one more. */
  function busy() {
    const limiter = createPartitionedRateLimiter((key: string) =>
      RateLimitPartition.getConcurrencyLimiter(key, () => ({
        permitLimit: 1,
        queueLimit: 1,
        queueProcessingOrder: 'newestFirst',
      })),
    );
    const held = limiter.attemptAcquire('a');
    const asked = around(limiter);
    const ask = (happen: () => WaitLimits | void): Promise<string> => {
      const wait = (): WaitLimits => happen() ?? unbounded;
      return stateOf((async () => asked[acquireOrWait]('a', 1, wait))());
    };
    return { limiter, asked, held, ask };
  }

  it('keeps nothing where that throws', async () => {
    const { limiter, held, ask } = busy();
    const failing = (): never => {
      throw new RangeError('no bounds');
    };
    expect(await ask(failing)).toBe('rejected: RangeError');
    held.dispose();
    expect(limiter.getStatistics('a')).toMatchObject({ currentQueuedCount: 0, currentAvailablePermits: 1 });
  });

  it('is told of its own end meanwhile', async () => {
    const { limiter, ask } = busy();
    expect(await ask(() => limiter.dispose())).toBe('rejected: ObjectDisposedError');
  });

  it('asks the partition that there is when it has made room for another one meanwhile', async () => {
    const clock = new FakeClock();
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1, queueLimit: 1 })),
      { clock, idleTimeoutMs: 5, maxPartitions: 1 },
    );
    const held = limiter.attemptAcquire('a');
    const wait = (): WaitLimits => {
      held.dispose();
      clock.advance(500);
      limiter.attemptAcquire('b');
      return unbounded;
    };
    const asked = around(limiter);
    expect(await stateOf((async () => asked[acquireOrWait]('a', 1, wait))())).toBe(
      'refused: Partition limit reached',
    );
  });

  it('has no more room than there is, whoever came meanwhile', async () => {
    const { limiter, asked, ask } = busy();
    let first: Promise<RateLimitLease> | undefined;
    const second = await ask(() => void (first = asked.acquire('a')));
    // The newer one has the place.
    expect([second, await stateOf(first!)]).toEqual(['pending', 'refused: Evicted by a newer request']);
    expect(limiter.getStatistics('a')!.currentQueuedCount).toBe(1);
  });

  it('grants what is given back meanwhile', async () => {
    const { held, ask } = busy();
    expect(await ask(() => held.dispose())).toBe('granted');
  });

  it('makes nobody leave for a request that doesn’t wait any more', async () => {
    const { asked, ask } = busy();
    const waiting = asked.acquire('a');
    const signal = AbortSignal.abort('gone');
    expect(await ask(() => ({ signal, maxWaitMs: Infinity }))).toBe('rejected: gone');
    expect(await stateOf(waiting)).toBe('pending');
  });
});
