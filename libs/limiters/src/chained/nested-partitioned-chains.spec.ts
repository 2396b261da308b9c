import type { PartitionedRateLimiter } from '../index.js';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  ObjectDisposedError,
  RateLimitPartition,
  refusedMember,
} from '../index.js';

function limiterOf(permitLimit: number, queueLimit = 0): PartitionedRateLimiter<string> {
  return createPartitionedRateLimiter((key: string) =>
    RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit, queueLimit })),
  );
}

const free = (limiter: PartitionedRateLimiter<string>): number =>
  limiter.getStatistics('a')!.currentAvailablePermits;

describe('a chain of partitioned limiters within another', () => {
  function nested() {
    const [first, second, third] = [limiterOf(5, 5), limiterOf(5, 5), limiterOf(1, 5)];
    const inner = createChainedPartitionedRateLimiter(second, third);
    return { first, second, third, inner, outer: createChainedPartitionedRateLimiter(first, inner) };
  }

  it('counts as its members: nothing is charged for a refusal, and nothing held while waiting', async () => {
    const { first, second, third, outer } = nested();
    const held = outer.attemptAcquire('a');
    expect([free(first), free(second), free(third)]).toEqual([4, 4, 0]);

    const refused = outer.attemptAcquire('a');
    expect(refused.isAcquired).toBe(false);
    expect(refusedMember(refused)).toBe(1);
    const waiting = outer.acquire('a');
    expect([free(first), free(second), free(third)]).toEqual([4, 4, 0]);

    held.dispose();
    expect((await waiting).isAcquired).toBe(true);
    (await waiting).dispose();
    expect([free(first), free(second), free(third)]).toEqual([5, 5, 1]);
  });

  it('runs the partitioner of each member once', () => {
    let asked = 0;
    const counting = createPartitionedRateLimiter((key: string) => {
      asked++;
      return RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 5 }));
    });
    const inner = createChainedPartitionedRateLimiter(limiterOf(5), counting);
    createChainedPartitionedRateLimiter(limiterOf(5), inner).attemptAcquire('a');
    expect(asked).toBe(1);
  });

  it('is an error once it has ended', () => {
    const { inner, outer } = nested();
    inner.dispose();
    expect(() => outer.attemptAcquire('a')).toThrow(ObjectDisposedError);
  });
});
