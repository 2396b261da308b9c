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
import type {
  ChainParticipant,
  ConcurrencyLimiterOptions,
  PartitionedRateLimiter,
  RateLimiter,
} from '../index.js';
import {
  chainParticipants,
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  LinkedLeaseRateLimiter,
  partitionOf,
  RateLimitPartition,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

/** What stands for the request of a session in a chain. */
function standsFor(limiter: LinkedLeaseRateLimiter<Visit>, request: Visit): RateLimiter {
  return limiter[partitionOf](request) as RateLimiter;
}

function participantOf(limiter: LinkedLeaseRateLimiter<Visit>, request: Visit): ChainParticipant {
  const offer = standsFor(limiter, request) as unknown as Record<symbol, () => ChainParticipant[]>;
  return offer[chainParticipants]!()[0]!;
}

/** A session that says whether it was ever refused. */
class NotingSession extends Session {
  get hasBeenRefused(): boolean {
    return this.wasRefused;
  }
}

/** A linked limiter over one that is known. */
function overOne(options: ConcurrencyLimiterOptions = { permitLimit: 1 }): {
  running: ConcurrencyLimiter;
  base: PartitionedRateLimiter<Visit>;
  limiter: VisitLimiter;
} {
  const running = new ConcurrencyLimiter(options);
  const base = createPartitionedRateLimiter((_visit: Visit) => RateLimitPartition.get('all', () => running));
  return { running, base, limiter: new VisitLimiter(base) };
}

/** A session that has its lease. */
function sessionIn(limiter: PartitionedRateLimiter<Visit>): Session {
  const session = new Session();
  granted(limiter.attemptAcquire(visit(session)));
  return session;
}

describe('what stands for a session with a lease in a chain', () => {
  const base = perGroup(1, { queueLimit: 5 });
  const limiter = new VisitLimiter(base);

  it('grants without a limit as long as the session lives, and is never waited for', () => {
    const session = sessionIn(limiter);
    const participant = participantOf(limiter, visit(session));
    expect(participant.name).toBe('Session');
    expect([participant.isDisposed, participant.canGrant(9), participant.hasEnough(9)]).toEqual([
      false,
      true,
      true,
    ]);
    expect(participant.retryAfterMs(1)).toBeUndefined();
    expect(participant.quota()).toMatchObject({ limit: 1, remaining: 0 });
    const reservation = participant.reserve(3)!;
    reservation.undo();
    expect(reservation.grant()).toMatchObject({ isAcquired: true, permitCount: 3 });
    expect(participant.reserveInTurn(2).grant()).toMatchObject({ permitCount: 2 });
    session.dispose();
    expect([participant.isDisposed, participant.canGrant(0), participant.hasEnough(0)]).toEqual([
      true,
      false,
      false,
    ]);
    for (const refusal of [participant.refuse(1), participant.refusalToWait(1, Infinity, false)!]) {
      expect([refusal.isAcquired, reasonOf(refusal)]).toEqual([false, 'Owner disposed']);
    }
  });

  it('is the same for the same session only', () => {
    const two = new VisitLimiter(perGroup(2));
    const [one, other] = [sessionIn(two), sessionIn(two)];
    const [first, second] = [participantOf(two, visit(one)), participantOf(two, visit(other))];
    expect(first.isSame(participantOf(two, visit(one)))).toBe(true);
    expect([first.isSame(second), first.isSame(participantOf(two, visit(new Session())))]).toEqual([
      false,
      false,
    ]);
    const chain = createChainedPartitionedRateLimiter(two, two);
    expect(chain.attemptAcquire(visit(one), 2)).toMatchObject({ isAcquired: true });
  });
});

describe('what stands for a session without a lease in a chain', () => {
  it('is the same for the same session over the same permits', () => {
    const limiter = new VisitLimiter(perGroup(5));
    const [one, other] = [new Session(), new Session()];
    const participant = participantOf(limiter, visit(one));
    expect(participant.isSame(participantOf(limiter, visit(one)))).toBe(true);
    expect(participant.isSame(participantOf(limiter, visit(other)))).toBe(false);
    expect(participant.isSame(participantOf(limiter, visit(one, 'other')))).toBe(false);
    expect(participant.isSame(participantOf(new VisitLimiter(perGroup(5)), visit(one)))).toBe(false);
  });

  it('is named after what has ended: the session, or what it waits for', () => {
    const { running, limiter } = overOne();
    const session = new Session();
    const participant = participantOf(limiter, visit(session));
    expect([participant.name, participant.isDisposed]).toEqual(['ConcurrencyLimiter', false]);
    running.dispose();
    expect(participant.isDisposed).toBe(true);
    session.dispose();
    expect([participant.name, participant.isDisposed]).toEqual(['Session', true]);
  });

  it('lives on once the session has a lease, though what it came from has ended', () => {
    const { running, limiter } = overOne();
    const session = new Session();
    const participant = participantOf(limiter, visit(session));
    granted(limiter.attemptAcquire(visit(session)));
    running.dispose();
    expect([participant.isDisposed, participant.hasEnough(1)]).toEqual([false, true]);
  });

  it('comes behind the limiter that it stands for, and before the next one', () => {
    const { running, limiter } = overOne();
    const orders = [running, new ConcurrencyLimiter({ permitLimit: 1 })].map((one) => {
      const offer = one as unknown as Record<symbol, () => ChainParticipant[]>;
      return offer[chainParticipants]!()[0]!.creationOrder;
    });
    const { creationOrder } = participantOf(limiter, visit(new Session()));
    expect(creationOrder).toBeGreaterThan(orders[0]!);
    expect(creationOrder).toBeLessThan(orders[1]!);
  });

  it('says when its one permit is back', () => {
    const clock = new FakeClock();
    const rate = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 500, clock });
    const base = createPartitionedRateLimiter((_visit: Visit) => RateLimitPartition.get('all', () => rate));
    rate.attemptAcquire();
    const refused = chained(base, 5).chain.attemptAcquire(visit(new Session()), 3);
    expect(refused.getMetadata('RETRY_AFTER')).toBe(500);
    const participant = participantOf(new VisitLimiter(base), visit(new Session()));
    expect(participant.retryAfterMs(3)).toBe(500);
    clock.advance(500);
    participant.bringUpToDate();
    expect(participant.canGrant(3)).toBe(true);
  });

  it('notes that it was refused where a request that could wait is, and only then', () => {
    for (const queueLimit of [0, 1]) {
      const base = perGroup(1, { queueLimit });
      granted(base.attemptAcquire(visit(null)));
      const session = new NotingSession();
      const participant = participantOf(new VisitLimiter(base), visit(session));
      const refusal = participant.refusalToWait(1, Infinity, false);
      expect([refusal === null, session.hasBeenRefused]).toEqual([queueLimit === 1, queueLimit === 0]);
    }
  });

  it('is held while its requests wait in a chain', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const held = granted(base.attemptAcquire(visit(null)));
    const session = new Session();
    const { chain } = chained(base, 5);
    const waiting = chain.acquire(visit(session));
    const participant = participantOf(new VisitLimiter(base), visit(session));
    expect(participant.isHeld).toBe(true);
    held.dispose();
    expect(await stateOf(waiting)).toBe('granted');
    expect(participantOf(new VisitLimiter(base), visit(new Session())).isHeld).toBe(false);
  });
});

describe('a permit that is reserved for a session', () => {
  it('is taken once, and given back where the session gets a lease without it', () => {
    const { running, limiter } = overOne({ permitLimit: 2 });
    const participant = participantOf(limiter, visit(new Session()));
    const [first, second] = [participant.reserve(3)!, participant.reserve(1)!];
    expect(running.getStatistics().currentAvailablePermits).toBe(0);
    expect(participant.reserve(1)).toBeNull();
    expect(first.grant()).toMatchObject({ isAcquired: true, permitCount: 3 });
    expect(second.grant()).toMatchObject({ isAcquired: true, permitCount: 1 });
    expect(running.getStatistics().currentAvailablePermits).toBe(1);
  });

  it('is not needed by a session that has its lease', () => {
    const { base, limiter } = overOne({ permitLimit: 3 });
    const session = new Session();
    const participant = participantOf(limiter, visit(session));
    granted(limiter.attemptAcquire(visit(session)));
    const reservations = [participant.reserve(3)!, participant.reserveInTurn(2)];
    expect(freeAndQueued(base)).toEqual([2, 0]);
    expect(reservations.map((reservation) => reservation.grant())).toMatchObject([
      { isAcquired: true, permitCount: 3 },
      { isAcquired: true, permitCount: 2 },
    ]);
    expect(freeAndQueued(base)).toEqual([2, 0]);
  });

  it('goes back in the instant in which its session gets a lease elsewhere, while it still waits for others', async () => {
    // Made before the other one: it is reserved first.
    const { base } = overOne({ permitLimit: 1, queueLimit: 9 });
    const { all, chain } = chained(base, 1, 9);
    let ofBase = granted(base.attemptAcquire(visit(null)));
    let ofAll = granted(all.attemptAcquire(visit(null)));
    const session = new Session();
    const waiting = chain.acquire(visit(session));
    for (let turn = 0; turn < 2; turn++) {
      ofAll.dispose();
      ofAll = granted(all.attemptAcquire(visit(null)));
      ofBase.dispose();
      if (turn === 0) ofBase = granted(base.attemptAcquire(visit(null)));
    }
    expect(freeAndQueued(base)).toEqual([0, 0]);
    expect(await stateOf(waiting)).toBe('pending');
    session.acquireLease(perGroup(1), visit(session), 1);
    expect(freeAndQueued(base)).toEqual([1, 0]);
    expect(await stateOf(waiting)).toBe('pending');
    ofAll.dispose();
    expect(await stateOf(waiting)).toBe('granted');
  });
});
