import { Linked } from '../../conformance/linked/only-owner.js';
import type { Owner } from '../../conformance/linked/only-owner.js';
import { stateOf } from '../../conformance/linked/visits.js';
import type { PartitionedRateLimiter } from '../index.js';
import {
  chainParticipants,
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  LinkedLeaseRateLimiter,
  RateLimitPartition,
} from '../index.js';

const over = (limiter: ConcurrencyLimiter): PartitionedRateLimiter<string> =>
  createPartitionedRateLimiter((key: string) => RateLimitPartition.get(key, () => limiter));

/** Gets the lease of an owner that others are linked to as well. */
class LinkedTo extends LinkedLeaseRateLimiter<string> {
  readonly #owner: Owner;

  constructor(owner: Owner) {
    super(over(new ConcurrencyLimiter({ permitLimit: 1 })));
    this.#owner = owner;
  }

  protected override getLeaseStore(): Owner {
    return this.#owner;
  }
}

/** Two that are linked to the same permits, of which all but some are taken. */
function twoLinked(free: number) {
  const base = new ConcurrencyLimiter({ permitLimit: 4, queueLimit: 10 });
  const held = base.attemptAcquire(4 - free);
  const limiter = over(base);
  return { base, held, ann: new Linked(limiter), bob: new Linked(limiter) };
}

const leaseElsewhere = (linked: Linked): boolean =>
  new LinkedTo(linked.owner).attemptAcquire('all').isAcquired;

describe('a request that waits with several linked limiters in a queue of theirs', () => {
  it('waits for one permit less once one of them has got its lease elsewhere', async () => {
    const { base, ann, bob, held } = twoLinked(0);
    const waiting = createChainedPartitionedRateLimiter(ann, bob).acquire('all');
    expect(base.getStatistics().currentQueuedCount).toBe(2);
    expect(leaseElsewhere(ann)).toBe(true);
    expect(base.getStatistics().currentQueuedCount).toBe(1);
    held.dispose();
    expect(await stateOf(waiting)).toBe('granted');
    expect(base.getStatistics().currentAvailablePermits).toBe(3);
  });

  it('goes on at once, also where others stand before it, when all of them have got theirs', async () => {
    const { base, ann, bob, held } = twoLinked(1);
    const big = base.acquire(2);
    const waiting = createChainedPartitionedRateLimiter(ann, bob).acquire('all');
    expect([leaseElsewhere(ann), await stateOf(waiting)]).toEqual([true, 'pending']);
    expect([leaseElsewhere(bob), await stateOf(waiting)]).toEqual([true, 'granted']);
    expect(base.getStatistics()).toMatchObject({ currentAvailablePermits: 1, currentQueuedCount: 2 });
    held.dispose();
    expect(await stateOf(big)).toBe('granted');
  });

  it('needs less as well at its very turn, while another member is asked', async () => {
    const { base, ann, bob, held } = twoLinked(0);
    const gate = new ConcurrencyLimiter({ permitLimit: 1 });
    const participant = gate[chainParticipants]()![0]!;
    const waiting = createChainedPartitionedRateLimiter(ann, bob, over(gate)).acquire('all');
    const outcomes: unknown[] = [];
    Object.assign(participant, {
      canGrant: () => {
        if (outcomes.push('asked') === 1) outcomes.push(leaseElsewhere(ann));
        return true;
      },
    });
    held.dispose();
    expect(await stateOf(waiting)).toBe('granted');
    expect(outcomes.slice(0, 2)).toEqual(['asked', true]);
    expect(base.getStatistics().currentAvailablePermits).toBe(3);
  });
});
