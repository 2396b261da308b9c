import type { PartitionedRateLimiter, RateLimitLease } from '../index.js';
import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  ManagedLifetimeLimiter,
  MetadataName,
  RateLimitPartition,
} from '../index.js';

function limiterOf(permitLimit: number, queueLimit = 0): PartitionedRateLimiter<string> {
  return createPartitionedRateLimiter((key: string) =>
    RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit, queueLimit })),
  );
}

const reasonOf = (lease: RateLimitLease): string | undefined => lease.getMetadata(MetadataName.reasonPhrase);

/** The end of each while a request of the outer chain waits for `scarce`, of which the one permit is held. */
async function waitThenEnd(outer: PartitionedRateLimiter<string>, end: () => void): Promise<RateLimitLease> {
  const held = outer.attemptAcquire('a');
  expect(held.isAcquired).toBe(true);
  const waiting = outer.acquire('a');
  end();
  held.dispose();
  return waiting;
}

describe('a request that waits for a chain with a chain within', () => {
  it('is refused at its turn when the inner chain of partitioned limiters has ended', async () => {
    const [first, second, scarce] = [limiterOf(5, 5), limiterOf(5, 5), limiterOf(1, 5)];
    const inner = createChainedPartitionedRateLimiter(second, scarce);
    const lease = await waitThenEnd(createChainedPartitionedRateLimiter(first, inner), () => inner.dispose());
    expect([lease.isAcquired, reasonOf(lease)]).toEqual([false, 'Limiter disposed']);
    expect(scarce.getStatistics('a')).toMatchObject({ currentAvailablePermits: 1, currentQueuedCount: 0 });
  });

  it('is refused where two chains stand in between', async () => {
    const inner = createChainedPartitionedRateLimiter(limiterOf(1, 5));
    const middle = createChainedPartitionedRateLimiter(inner, limiterOf(5));
    const outer = createChainedPartitionedRateLimiter(limiterOf(5), middle);
    const lease = await waitThenEnd(outer, () => inner.dispose());
    expect(reasonOf(lease)).toBe('Limiter disposed');
  });

  it('is refused when a translated limiter has ended that has left its inner one open', async () => {
    const scarce = limiterOf(1, 5);
    const translated = scarce.withTranslatedKey((key: string) => key, { leaveOpen: true });
    const outer = createChainedPartitionedRateLimiter(limiterOf(5), translated);
    const lease = await waitThenEnd(outer, () => translated.dispose());
    expect(reasonOf(lease)).toBe('Limiter disposed');
    expect(scarce.getStatistics('a')).toMatchObject({ currentAvailablePermits: 1 });
  });

  it('is refused when the chain has ended that is the limiter of a partition', async () => {
    const scarce = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5 });
    const chain = createChainedRateLimiter(scarce);
    const member = createPartitionedRateLimiter((key: string) => RateLimitPartition.get(key, () => chain));
    const outer = createChainedPartitionedRateLimiter(limiterOf(5), member);
    const lease = await waitThenEnd(outer, () => chain.dispose());
    expect(reasonOf(lease)).toBe('Limiter disposed');
    expect(scarce.getStatistics()).toMatchObject({ currentAvailablePermits: 1 });
  });

  it('is refused when a limiter with a managed lifetime has ended the chain that it manages', async () => {
    const scarce = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5 });
    const managed = new ManagedLifetimeLimiter(createChainedRateLimiter(scarce));
    const outer = createChainedRateLimiter(managed);
    const held = outer.attemptAcquire();
    const waiting = outer.acquire();
    managed.dispose();
    held.dispose();
    expect(reasonOf(await waiting)).toBe('Limiter disposed');
    expect(scarce.getStatistics()).toMatchObject({ currentAvailablePermits: 1 });
  });

  it('is granted as long as all of them live', async () => {
    const inner = createChainedPartitionedRateLimiter(limiterOf(1, 5));
    const outer = createChainedPartitionedRateLimiter(limiterOf(5), inner);
    expect((await waitThenEnd(outer, () => undefined)).isAcquired).toBe(true);
  });
});
