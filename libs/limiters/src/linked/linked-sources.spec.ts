import type { PartitionedRateLimiter, RateLimitLease } from '../index.js';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  ObjectDisposedError,
  RateLimitPartition,
  refusedMember,
  retryAfterOfAll,
} from '../index.js';
import { Linked } from '../../conformance/linked/only-owner.js';
import { FakeClock } from '../testing/index.js';

const clock = new FakeClock();
const groups = (permitLimit: number) =>
  createPartitionedRateLimiter(
    (key: string) =>
      RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit, queueLimit: 5, clock })),
    { clock },
  );

const windows = (permitLimit: number) =>
  createPartitionedRateLimiter(
    (key: string) =>
      RateLimitPartition.getFixedWindowLimiter(key, () => ({ permitLimit, windowMs: 1_000, clock })),
    { clock },
  );

async function settle(): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one microtask after the other
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

describe('a chain whose later partitioner ends the reference limiter of a linked one before it', () => {
  const ending = (): { chain: Linked; used: () => unknown } => {
    const base = groups(1);
    const last = createPartitionedRateLimiter(
      (key: string) => {
        base.dispose();
        return RateLimitPartition.getNoLimiter(key);
      },
      { clock },
    );
    const linked = new Linked(base);
    const chain = createChainedPartitionedRateLimiter(linked, last) as unknown as Linked;
    return { chain, used: () => linked.owner['tryGetLease']() };
  };

  it('grants nothing from it', async () => {
    const now = ending();
    expect(() => now.chain.attemptAcquire('ann')).toThrow(ObjectDisposedError);
    expect(now.used()).toBeUndefined();
    const later = ending();
    await expect(later.chain.acquire('ann')).rejects.toThrow(ObjectDisposedError);
    expect(later.used()).toBeUndefined();
  });
});

describe('a chain with a linked limiter and another that takes from the same permits', () => {
  it.each(['before', 'behind'])('never takes more than there are (%s)', async (where) => {
    const base = groups(2);
    const linked = new Linked(base);
    const both = where === 'before' ? [linked, base] : [base, linked];
    const chain = createChainedPartitionedRateLimiter(...both);
    const held = base.attemptAcquire('ann');
    expect(chain.attemptAcquire('ann').isAcquired).toBe(false);
    held.dispose();
    linked.owner.dispose();
    expect(base.getStatistics('ann')!.currentAvailablePermits).toBe(2);
  });

  it('says so where there can never be enough for both', async () => {
    const base = groups(1);
    const chain = createChainedPartitionedRateLimiter(new Linked(base), base);
    expect(() => chain.attemptAcquire('ann')).toThrow(
      'permitCount must be at most the limit of 0, but got 1',
    );
    await expect(chain.acquire('ann')).rejects.toThrow(RangeError);
    expect(base.getStatistics('ann')!.currentAvailablePermits).toBe(1);
  });

  it('loses nobody who waits', async () => {
    const base = groups(2);
    const linked = new Linked(base);
    const chain = createChainedPartitionedRateLimiter(linked, base);
    const held = [base.attemptAcquire('ann'), base.attemptAcquire('ann')];
    const inChain = chain.acquire('ann');
    const behind = base.acquire('ann');
    for (const lease of held) lease.dispose();
    (await inChain).dispose();
    (await behind).dispose();
    linked.owner.dispose();
    expect(base.getStatistics('ann')).toMatchObject({ currentAvailablePermits: 2, currentQueuedCount: 0 });
  });

  it.each(['before', 'behind'])('burns nothing when it refuses (%s)', (where) => {
    const base = groups(2);
    const linked = new Linked(base);
    const both = where === 'before' ? [linked, base] : [base, linked];
    const held = base.attemptAcquire('ann');
    const refusal = createChainedPartitionedRateLimiter(...both).attemptAcquire('ann');
    expect(refusal.isAcquired).toBe(false);
    expect(refusedMember(refusal)).toBe(1);
    expect(linked.owner['tryGetLease']()).toBeUndefined();
    expect(linked.owner['wasRefused']).toBe(where === 'behind');
    held.dispose();
    expect(base.getStatistics('ann')).toMatchObject({ currentAvailablePermits: 2, totalFailedLeases: 1 });
  });

  it('says exactly when there will be enough for both', () => {
    const base = windows(2);
    base.attemptAcquire('ann');
    clock.advance(400);
    const linked = new Linked(base);
    const refusal = createChainedPartitionedRateLimiter(base, linked).attemptAcquire('ann');
    expect(refusal.getMetadata('RETRY_AFTER')).toBe(600);
    expect(retryAfterOfAll(refusal)).toBe(600);
  });

  it('waits for no more than it needs once the owner has got its lease', async () => {
    const base = groups(2);
    const linked = new Linked(base);
    const held = base.attemptAcquire('ann');
    const other = base.attemptAcquire('ann');
    const inChain = createChainedPartitionedRateLimiter(linked, base).acquire('ann');
    expect(base.getStatistics('ann')!.currentQueuedCount).toBe(2);
    other.dispose();
    // A newcomer that takes what is free gives the owner its lease.
    const early = linked.attemptAcquire('ann');
    expect(early.isAcquired).toBe(false);
    const alone = linked.acquire('ann');
    held.dispose();
    expect((await inChain).isAcquired).toBe(true);
    expect((await alone).isAcquired).toBe(true);
    expect(base.getStatistics('ann')).toMatchObject({ currentAvailablePermits: 0, currentQueuedCount: 0 });
  });

  it('is one for the others as soon as the owner has its lease', () => {
    const base = groups(2);
    const linked = new Linked(base);
    linked.attemptAcquire('ann');
    const lease = createChainedPartitionedRateLimiter(linked, base).attemptAcquire('ann');
    expect(lease.isAcquired).toBe(true);
    expect(base.getStatistics('ann')!.currentAvailablePermits).toBe(0);
  });
});

describe('chains with linked limiters and their reference limiter, in whatever order', () => {
  const orders = ['linked first', 'linked last'] as const;
  const both = (order: string, linked: Linked, base: PartitionedRateLimiter<string>) =>
    createChainedPartitionedRateLimiter(...(order === 'linked first' ? [linked, base] : [base, linked]));

  it.each(orders.flatMap((one) => orders.map((other) => [one, other])))(
    'never wait for each other (%s, %s)',
    async (one, other) => {
      const base = groups(2);
      const [ann, bob] = [new Linked(base), new Linked(base)];
      const held = [base.attemptAcquire('all'), base.attemptAcquire('all')];
      const first = both(one, ann, base).acquire('all');
      const second = both(other, bob, base).acquire('all');
      for (const lease of held) lease.dispose();
      (await first).dispose();
      // The permit of the first one's owner is out as long as that lives.
      ann.owner.dispose();
      (await second).dispose();
      bob.owner.dispose();
      expect(base.getStatistics('all')).toMatchObject({ currentAvailablePermits: 2, currentQueuedCount: 0 });
    },
  );

  it('hold nothing while they wait', async () => {
    for (const order of orders) {
      const base = groups(2);
      const linked = new Linked(base);
      const held = base.attemptAcquire('all');
      const waiting = both(order, linked, base).acquire('all');
      // oxlint-disable-next-line no-await-in-loop -- one order after the other
      await settle();
      expect(base.getStatistics('all')!.currentAvailablePermits).toBe(1);
      held.dispose();
      // oxlint-disable-next-line no-await-in-loop -- one order after the other
      expect((await waiting).isAcquired).toBe(true);
    }
  });
});

describe('a row in which others begin to wait while a chain still resolves its members', () => {
  it('loses none of them', async () => {
    const base = groups(1);
    const waiting: Promise<RateLimitLease>[] = [];
    const last = createPartitionedRateLimiter(
      (key: string) => {
        waiting.push(base.acquire(key));
        return RateLimitPartition.getNoLimiter(key);
      },
      { clock },
    );
    const held = base.attemptAcquire('ann');
    const inChain = createChainedPartitionedRateLimiter(base, last).acquire('ann');
    expect(base.getStatistics('ann')!.currentQueuedCount).toBe(2);
    held.dispose();
    (await waiting[0]!).dispose();
    (await inChain).dispose();
    expect(base.getStatistics('ann')).toMatchObject({ currentAvailablePermits: 1, currentQueuedCount: 0 });
  });
});
