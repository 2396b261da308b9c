import {
  freeAndQueued,
  granted,
  perGroup,
  Session,
  stateOf,
  visit,
  VisitLimiter,
} from '../../conformance/linked/visits.js';
import type { Visit } from '../../conformance/linked/visits.js';
import type { RateLimiter, RateLimitLease } from '../index.js';
import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  LinkedLeaseRateLimiter,
  partitionOf,
  RateLimitPartition,
} from '../index.js';

describe('a linked limiter in a chain with one of another maker', () => {
  class Plain extends ConcurrencyLimiter {
    protected override attemptAcquireCore(permits: number): RateLimitLease {
      return super.attemptAcquireCore(permits);
    }
  }

  function mixed() {
    const base = perGroup(1, { queueLimit: 5 });
    const plain = createPartitionedRateLimiter((_visit: Visit) =>
      RateLimitPartition.get('all', () => new Plain({ permitLimit: 9 })),
    );
    return { base, chain: createChainedPartitionedRateLimiter(plain, new VisitLimiter(base)) };
  }

  it('answers for the session', async () => {
    const { base, chain } = mixed();
    const session = new Session();
    granted(chain.attemptAcquire(visit(session), 4));
    granted(await chain.acquire(visit(session), 5));
    expect(freeAndQueued(base)).toEqual([0, 0]);
    expect(chain.attemptAcquire(visit(new Session())).isAcquired).toBe(false);
  });

  it('stands there as a limiter that is never idle, with the statistics of the group', () => {
    const { base } = mixed();
    const limiter = new VisitLimiter(base);
    const stand = limiter[partitionOf](visit(new Session())) as RateLimiter;
    expect(stand.idleDurationMs).toBeNull();
    expect(stand.getStatistics()).toEqual(base.getStatistics(visit(null)));
    granted(stand.attemptAcquire(3));
    expect(freeAndQueued(base)).toEqual([0, 0]);
  });
});

describe('a linked limiter', () => {
  it('hands on what its reference limiter is told: to refresh its options', () => {
    let permitLimit = 1;
    const base = createPartitionedRateLimiter(({ group }: Visit) =>
      RateLimitPartition.getConcurrencyLimiter(group, () => ({ permitLimit })),
    );
    const limiter = new VisitLimiter(base);
    granted(limiter.attemptAcquire(visit(null)));
    permitLimit = 2;
    limiter.refreshOptions();
    granted(limiter.attemptAcquire(visit(null)));
  });

  it('ends a wait in a chain with itself, or with a chain that is its reference limiter', async () => {
    for (const ends of ['limiter', 'base'] as const) {
      const group = perGroup(1, { queueLimit: 5 });
      const base = createChainedPartitionedRateLimiter(group);
      const limiter = new VisitLimiter(base);
      const chain = createChainedPartitionedRateLimiter(perGroup(9), limiter);
      const held = granted(group.attemptAcquire(visit(null)));
      const waiting = chain.acquire(visit(null));
      (ends === 'limiter' ? limiter : base).dispose();
      held.dispose();
      // oxlint-disable-next-line no-await-in-loop -- one case after the other
      expect(await stateOf(waiting)).toBe('refused: Limiter disposed');
      expect(freeAndQueued(group)).toEqual([1, 0]);
    }
  });

  it('ends what it owns once', () => {
    let ends = 0;
    const base = perGroup(1);
    const dispose = base.dispose.bind(base);
    base.dispose = () => {
      ends++;
      dispose();
    };
    const limiter = new VisitLimiter(base, { disposeBaseLimiter: true });
    limiter.dispose();
    limiter.dispose();
    expect(ends).toBe(1);
  });

  it('is asked for its decision by chains where a subclass has one of its own', () => {
    class Own extends VisitLimiter {
      asked = 0;
      protected override attemptAcquireCore(request: Visit, permits: number): RateLimitLease {
        this.asked++;
        return super.attemptAcquireCore(request, permits);
      }
    }
    const own = new Own(perGroup(1));
    granted(createChainedPartitionedRateLimiter(perGroup(9), own).attemptAcquire(visit(null)));
    expect(own.asked).toBe(1);
  });

  it('tells the quota of the decision on the lease that is shared', () => {
    const limiter = new VisitLimiter(perGroup(3));
    const session = new Session();
    granted(limiter.attemptAcquire(visit(session)));
    expect(limiter.attemptAcquire(visit(session), 9).quota()).toMatchObject([{ limit: 3, remaining: 2 }]);
  });

  it.each<[string, object, string]>([
    [
      'no store',
      { getLeaseStore: () => 5 },
      'Own.getLeaseStore must return a ShareableLeaseOwner or null, but for the resource an object (Object) it returned 5.',
    ],
    [
      'a store without leases',
      { getLeaseStore: () => ({ acquireLease: () => 7 }) },
      'The store an object (Object) must answer with a lease, but got 7.',
    ],
  ])('says what is wrong with %s', (_what, methods, message) => {
    class Own extends LinkedLeaseRateLimiter<Visit> {
      protected override getLeaseStore(): null {
        return null;
      }
    }
    Object.assign(Own.prototype, methods);
    expect(() => new Own(perGroup(1)).attemptAcquire(visit(null))).toThrow(
      expect.objectContaining({ code: 'ERR_RL_INVALID_ARGUMENT', message }) as Error,
    );
  });

  it('says what is wrong with its reference limiter, with a code', async () => {
    expect(() => new VisitLimiter({} as never)).toThrow(
      expect.objectContaining({ code: 'ERR_RL_INVALID_ARGUMENT' }) as Error,
    );
    class Odd extends ConcurrencyLimiter {
      override attemptAcquire(): never {
        return 3 as never;
      }
    }
    const odd = createPartitionedRateLimiter((_visit: Visit) =>
      RateLimitPartition.get('all', () => new Odd({ permitLimit: 1 })),
    );
    expect(() => new Session().acquireLease(odd, visit(null), 1)).toThrow(
      expect.objectContaining({
        code: 'ERR_RL_INVALID_ARGUMENT',
        message:
          'The reference limiter, an object (DefaultPartitionedRateLimiter), must answer with a lease, but got 3.',
      }) as Error,
    );
  });

  it('ends its sessions with `using`', () => {
    const base = perGroup(1);
    const session = new Session();
    granted(new VisitLimiter(base).attemptAcquire(visit(session)));
    session[Symbol.dispose]();
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('looks at the signal before the store, also where there is a lease', async () => {
    const limiter = new VisitLimiter(perGroup(1));
    const session = new Session();
    granted(limiter.attemptAcquire(visit(session)));
    await expect(
      session.acquireLeaseAsync(perGroup(1), visit(session), 1, AbortSignal.abort('gone')),
    ).rejects.toBe('gone');
  });
});
