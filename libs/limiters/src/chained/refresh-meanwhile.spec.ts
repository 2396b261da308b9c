import type { PartitionedRateLimiter, RateLimitPartition as Partition } from '../index.js';
import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  getManagedLifetimeLimiter,
  RateLimitPartition,
} from '../index.js';
import { stateOf } from '../../conformance/linked/visits.js';

interface Limits {
  permitLimit: number;
  readonly queueLimit: number;
}

/** A limiter of another maker: a chain with it asks its members one after the other. */
class Foreign extends ConcurrencyLimiter {
  protected override acquireCore(permits: number, signal?: AbortSignal): ReturnType<Foreign['acquire']> {
    return super.acquireCore(permits, signal);
  }
}

function refreshable(
  make: (limits: Limits) => ConcurrencyLimiter,
  limits: () => Limits,
): PartitionedRateLimiter<string> {
  return createPartitionedRateLimiter((partitionKey: string): Partition<string, ConcurrencyLimiter> => ({
    partitionKey,
    factory: () => make(limits()),
    refresh: (limiter) => limiter.updateOptions(limits()),
  }));
}

const partitions: Record<string, (limits: () => Limits) => PartitionedRateLimiter<string>> = {
  'a row': (limits) =>
    createPartitionedRateLimiter((key: string) => RateLimitPartition.getConcurrencyLimiter(key, limits)),
  'a limiter of a factory that can be refreshed': (limits) =>
    refreshable((own) => new ConcurrencyLimiter(own), limits),
  'a limiter with a managed lifetime': (limits) =>
    createPartitionedRateLimiter((key: string) =>
      getManagedLifetimeLimiter(
        key,
        (own) => RateLimitPartition.getConcurrencyLimiter(own, limits),
        () => undefined,
      ),
    ),
  'a limiter of another maker': (limits) => refreshable((own) => new Foreign(own), limits),
};

describe('a partition whose options change while a request of a chain waits for another one', () => {
  it.each(Object.entries(partitions))(
    'has the new ones when the request comes to wait in %s',
    async (_, of) => {
      const limits = { permitLimit: 1, queueLimit: 5 };
      const [first, second] = [of(() => ({ permitLimit: 1, queueLimit: 5 })), of(() => ({ ...limits }))];
      const held = first.attemptAcquire('a');
      const waiting = createChainedPartitionedRateLimiter(first, second).acquire('a');
      expect(second.attemptAcquire('a').isAcquired).toBe(true);
      limits.permitLimit = 2;
      second.refreshOptions();
      held.dispose();
      expect(await stateOf(waiting)).toBe('granted');
    },
  );
});

describe('a chain of partitioned limiters of which one fails to refresh', () => {
  it('refreshes the others, and throws', () => {
    const limits = { permitLimit: 1, queueLimit: 0 };
    const failing = createPartitionedRateLimiter((key: string) => RateLimitPartition.getNoLimiter(key));
    failing.refreshOptions = () => {
      throw new Error('no options');
    };
    const member = partitions['a row']!(() => ({ ...limits }));
    member.attemptAcquire('a');
    limits.permitLimit = 2;
    expect(() => createChainedPartitionedRateLimiter(failing, member).refreshOptions()).toThrow('no options');
    expect(member.attemptAcquire('a').isAcquired).toBe(true);
  });
});
