import { perGroup, Session, stateOf, visit, VisitLimiter } from '../../conformance/linked/visits.js';
import type { RateLimitLease, StoredLease } from '../index.js';
import {
  chainParticipants,
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
} from '../index.js';

class FailingSession extends Session {
  protected override trySetLease(_lease: RateLimitLease): StoredLease {
    throw new Error('no store');
  }
}

/** Links all requests to one session, whoever makes them. */
class OneSessionLimiter extends VisitLimiter {
  readonly #session = new FailingSession();

  protected override getLeaseStore(): FailingSession {
    return this.#session;
  }
}

describe('a chain of which one member fails while it is taken from', () => {
  it('lets those go on who wait for the lease that another has stored before', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const linked = new VisitLimiter(base);
    const failing = createChainedPartitionedRateLimiter(linked, new OneSessionLimiter(perGroup(5)));
    const session = new Session();
    const held = base.attemptAcquire(visit(null));
    const failed = failing.acquire(visit(session));
    const waiting = linked.acquire(visit(session));
    held.dispose();
    expect(await stateOf(failed)).toBe('rejected: Error');
    expect(session.lease?.isAcquired).toBe(true);
    expect(await stateOf(waiting)).toBe('granted');
    expect(base.getStatistics(visit(null))!.currentQueuedCount).toBe(0);
  });
});

describe('a chain of which one member fails after it was taken from', () => {
  it('gives back what it has taken: nobody gets the lease', async () => {
    const limiters = [1, 2].map((permitLimit) => new ConcurrencyLimiter({ permitLimit }));
    Object.assign(limiters[1]![chainParticipants]()![0]!, {
      afterTaking: () => {
        throw new Error('afterwards');
      },
    });
    const chain = createChainedRateLimiter(...limiters);
    expect(() => chain.attemptAcquire()).toThrow('afterwards');
    expect(await stateOf(chain.acquire())).toBe('rejected: Error');
    expect(limiters.map((limiter) => limiter.getStatistics().currentAvailablePermits)).toEqual([1, 2]);
  });
});

describe('a chain of which one member fails while it is taken from, and another one afterwards', () => {
  it('fails with the errors of both', async () => {
    const limiters = [1, 2].map((permitLimit) => new ConcurrencyLimiter({ permitLimit }));
    const fail = (message: string) => (): never => {
      throw new Error(message);
    };
    const [first, second] = limiters.map((limiter) => limiter[chainParticipants]()![0]!);
    Object.assign(first!, { afterTaking: fail('afterwards') });
    Object.assign(second!, { take: fail('taking') });
    await expect(createChainedRateLimiter(...limiters).acquire()).rejects.toMatchObject({
      message: 'Several members of a chain failed.',
      errors: [new Error('afterwards'), new Error('taking')],
    });
    expect(limiters.map((limiter) => limiter.getStatistics().currentAvailablePermits)).toEqual([1, 2]);
  });
});

describe('a chain of which one member in the middle fails as it is taken from', () => {
  it('gives back what it has taken, and fails with the error of that one as it is', async () => {
    const limiters = [1, 2, 3].map((permitLimit) => new ConcurrencyLimiter({ permitLimit }));
    const failure = new Error('taking');
    Object.assign(limiters[1]![chainParticipants]()![0]!, {
      take: () => {
        throw failure;
      },
    });
    const chain = createChainedRateLimiter(...limiters);
    expect(() => chain.attemptAcquire()).toThrow(failure);
    await expect(chain.acquire()).rejects.toBe(failure);
    expect(limiters.map((limiter) => limiter.getStatistics().currentAvailablePermits)).toEqual([1, 2, 3]);
  });
});
