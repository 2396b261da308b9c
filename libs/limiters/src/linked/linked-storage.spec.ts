import {
  chained,
  freeAndQueued,
  granted,
  perGroup,
  reasonOf,
  Session,
  stateOf,
  visit,
  VisitLimiter,
} from '../../conformance/linked/visits.js';
import type { Visit } from '../../conformance/linked/visits.js';
import {
  chainParticipants,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  LinkedLeaseRateLimiter,
  ObjectDisposedError,
  partitionOf,
  RateLimitPartition,
} from '../index.js';
import type {
  ChainParticipant,
  PartitionedRateLimiter,
  RateLimiter,
  RateLimitLease,
  StoredLease,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

/** A session whose storage answers what it is told to. */
class FaultySession extends Session {
  tryGet: (() => RateLimitLease | undefined) | null = null;
  trySet: ((lease: RateLimitLease) => StoredLease) | null = null;
  listeners = 0;

  get hasEnded(): boolean {
    return this.isDisposed;
  }

  override onDisposed(listener: () => void): () => void {
    this.listeners++;
    return super.onDisposed(listener);
  }

  protected override tryGetLease(): RateLimitLease | undefined {
    return this.tryGet === null ? this.lease : this.tryGet();
  }

  protected override trySetLease(lease: RateLimitLease): StoredLease {
    return this.trySet === null ? super.trySetLease(lease) : this.trySet(lease);
  }
}

function participantOf(base: PartitionedRateLimiter<Visit>, session: Session): ChainParticipant {
  const stand = new VisitLimiter(base)[partitionOf](visit(session)) as RateLimiter;
  const offer = stand as unknown as Record<symbol, () => ChainParticipant[]>;
  return offer[chainParticipants]!()[0]!;
}

/** So many requests a second, all together. */
function perSecond(permitLimit: number): {
  rate: FixedWindowRateLimiter;
  base: PartitionedRateLimiter<Visit>;
} {
  const rate = new FixedWindowRateLimiter({ permitLimit, windowMs: 1_000, clock: new FakeClock() });
  return {
    rate,
    base: createPartitionedRateLimiter((_visit: Visit) => RateLimitPartition.get('all', () => rate)),
  };
}

const coded = (message: RegExp): Error =>
  expect.objectContaining({
    code: 'ERR_RL_INVALID_ARGUMENT',
    message: expect.stringMatching(message) as string,
  }) as Error;

describe('the storage of a session', () => {
  it('that has an earlier lease keeps that, and the new one goes back at once', () => {
    const base = perGroup(2);
    const earlier = granted(base.attemptAcquire(visit(null)));
    const session = new FaultySession();
    session.trySet = () => ({ stored: false, lease: earlier });
    granted(new VisitLimiter(base).attemptAcquire(visit(session)));
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('may have been filled by somebody else: that goes back at the end too', () => {
    const base = perGroup(1);
    const session = new FaultySession();
    session.lease = granted(base.attemptAcquire(visit(null)));
    granted(new VisitLimiter(base).attemptAcquire(visit(session)));
    session.dispose();
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('whose lease fails to end fails the end of the session, after all others have ended', () => {
    const base = perGroup(2);
    const session = new FaultySession();
    session.trySet = (lease) => ({ stored: true, lease });
    session.tryGet = () => undefined;
    const limiter = new VisitLimiter(base);
    const attempt = base.attemptAcquire.bind(base);
    base.attemptAcquire = (request, permits) => {
      const lease = attempt(request, permits);
      const dispose = lease.dispose.bind(lease);
      lease.dispose = () => {
        dispose();
        throw new Error('stuck');
      };
      return lease;
    };
    for (let request = 0; request < 2; request++) granted(limiter.attemptAcquire(visit(session)));
    expect(() => session.dispose()).toThrow(
      expect.objectContaining({
        message: 'FaultySession failed to end in several ways.',
        errors: [new Error('stuck'), new Error('stuck')],
      }) as Error,
    );
    expect(freeAndQueued(base)).toEqual([2, 0]);
  });

  it('is not asked to store once the session has ended', () => {
    const session = new FaultySession();
    const base = createPartitionedRateLimiter(({ group }: Visit) => {
      session.dispose();
      return RateLimitPartition.getConcurrencyLimiter(group, () => ({ permitLimit: 1 }));
    });
    expect(() => session.acquireLease(base, visit(session), 1)).toThrow(ObjectDisposedError);
    expect(session.lease).toBeUndefined();
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('that fails while a request waits in a chain shows when the permit is taken', () => {
    const base = perGroup(1);
    const session = new FaultySession();
    const participant = participantOf(base, session);
    granted(base.attemptAcquire(visit(null)));
    session.tryGet = () => {
      throw new Error('lost');
    };
    expect([participant.canGrant(1), participant.hasEnough(1), participant.isDisposed]).toEqual([
      true,
      true,
      false,
    ]);
    expect(() => participant.take(1)).toThrow('lost');
    expect(() => participant.reserve(1)).toThrow('lost');
  });

  it('that loses a lease which a request had reserved for nothing fails that request', () => {
    const base = perGroup(1);
    const session = new FaultySession();
    const participant = participantOf(base, session);
    granted(new VisitLimiter(base).attemptAcquire(visit(session)));
    const reservations = [participant.reserve(3)!, participant.reserveInTurn(2)];
    expect(freeAndQueued(base)).toEqual([0, 0]);
    session.tryGet = () => undefined;
    for (const reservation of reservations) {
      expect(() => reservation.grant()).toThrow(
        coded(
          /^FaultySession\.tryGetLease has lost a lease that it had: a stored lease has to stay until its owner is disposed\.$/,
        ),
      );
    }
  });
});

describe('a session that has ended', () => {
  it('asks nobody, alone or in a chain', async () => {
    let asked = 0;
    const rate = new FixedWindowRateLimiter({ permitLimit: 5, windowMs: 1_000, clock: new FakeClock() });
    const base = createPartitionedRateLimiter((_visit: Visit) => {
      asked++;
      return RateLimitPartition.get('all', () => rate);
    });
    const session = new FaultySession();
    expect(session.hasEnded).toBe(false);
    session.dispose();
    expect(session.hasEnded).toBe(true);
    expect(() => session.acquireLease(base, visit(session), 1)).toThrow(ObjectDisposedError);
    await expect(session.acquireLeaseAsync(base, visit(session), 1)).rejects.toThrow(ObjectDisposedError);
    expect(() => chained(base, 9).chain.attemptAcquire(visit(session))).toThrow(ObjectDisposedError);
    expect([asked, rate.getStatistics().totalSuccessfulLeases]).toEqual([0, 0]);
  });
});

describe('a session that is refused', () => {
  it('keeps nothing of it, however often', () => {
    const base = perGroup(1);
    const held = granted(base.attemptAcquire(visit(null)));
    const session = new FaultySession();
    for (let request = 0; request < 3; request++) {
      expect(new VisitLimiter(base).attemptAcquire(visit(session)).isAcquired).toBe(false);
    }
    expect(session.listeners).toBe(0);
    held.dispose();
    granted(new VisitLimiter(base).attemptAcquire(visit(session)));
    expect(session.listeners).toBe(1);
  });

  it('by the cap of the reference limiter charges no other member of the chain', () => {
    const { rate, base: others } = perSecond(5);
    const base = createPartitionedRateLimiter(
      ({ group }: Visit) => RateLimitPartition.getConcurrencyLimiter(group, () => ({ permitLimit: 1 })),
      { maxPartitions: 1 },
    );
    granted(base.attemptAcquire(visit(null)));
    const chain = createChainedPartitionedRateLimiter(others, new VisitLimiter(base));
    const refused = chain.attemptAcquire(visit(new Session(), 'elsewhere'));
    expect(reasonOf(refused)).toBe('Partition limit reached');
    expect(rate.getStatistics()).toMatchObject({ currentAvailablePermits: 5, totalSuccessfulLeases: 0 });
  });
});

describe('an acquisition of a session that all have given up', () => {
  it('does not disturb the next one when it ends late', async () => {
    const base = perGroup(1, { queueLimit: 9 });
    const limiter = new VisitLimiter(base);
    const held = granted(base.attemptAcquire(visit(null)));
    const session = new FaultySession();
    const abort = new AbortController();
    const gone = limiter.acquire(visit(session), 1, { signal: abort.signal });
    abort.abort(new Error('gone'));
    const second = limiter.acquire(visit(session));
    const inChain = chained(base, 9).chain.acquire(visit(session));
    expect(await stateOf(gone)).toBe('rejected: Error');
    expect([await stateOf(second), await stateOf(inChain)]).toEqual(['pending', 'pending']);
    const third = limiter.acquire(visit(session));
    expect(freeAndQueued(base)).toEqual([0, 1]);
    held.dispose();
    for (const one of [second, inChain, third]) expect(await stateOf(one)).toBe('granted');
    expect(freeAndQueued(base)).toEqual([0, 0]);
  });
});

describe('a subclass of the linked limiter', () => {
  it('may answer undefined for a resource without a store', () => {
    class Forgetful extends LinkedLeaseRateLimiter<Visit> {
      protected override getLeaseStore(): null {
        return undefined as unknown as null;
      }
    }
    const base = perGroup(3);
    granted(new Forgetful(base).attemptAcquire(visit(new Session()), 2));
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });
});
