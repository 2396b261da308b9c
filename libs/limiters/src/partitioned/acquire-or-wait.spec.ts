import type { RateLimitLease } from '../rate-limit-lease.js';
import { ConcurrencyLimiter } from '../concurrency/concurrency-limiter.js';
import { acquireOrWait } from './acquire-or-wait.js';
import { createPartitionedRateLimiter } from './default-partitioned-rate-limiter.js';
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
