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
import type { DerivedLease, RateLimitLease, StoredLease } from '../index.js';
import { ObjectDisposedError } from '../index.js';
import { FakeClock } from '../testing/index.js';

/** A session that says whether it was ever refused, with a storage that may do otherwise. */
class OddSession extends Session {
  tryGet: (() => unknown) | null = null;
  trySet: ((lease: RateLimitLease) => unknown) | null = null;
  derive: (() => unknown) | null = null;

  get hasBeenRefused(): boolean {
    return this.wasRefused;
  }

  protected override tryGetLease(): RateLimitLease | undefined {
    return (this.tryGet === null ? this.lease : this.tryGet()) as RateLimitLease | undefined;
  }

  protected override trySetLease(lease: RateLimitLease): StoredLease {
    return (this.trySet === null ? super.trySetLease(lease) : this.trySet(lease)) as StoredLease;
  }

  protected override makeDerived(lease: RateLimitLease, permitCount: number): DerivedLease {
    return (this.derive === null ? super.makeDerived(lease, permitCount) : this.derive()) as DerivedLease;
  }
}

const coded = (message: RegExp): Error =>
  expect.objectContaining({
    code: 'ERR_RL_INVALID_ARGUMENT',
    message: expect.stringMatching(message) as string,
  }) as Error;

describe('a session', () => {
  it('that has ended is an error in a chain, under its own name', () => {
    const { chain } = chained(perGroup(1), 9);
    const session = new Session();
    session.dispose();
    expect(() => chain.attemptAcquire(visit(session))).toThrow(/^Session was disposed/);
    expect(() => session.acquireLease(perGroup(1), visit(session), 1)).toThrow(ObjectDisposedError);
  });

  it.each(['acquireLease', 'acquireLeaseAsync'] as const)(
    'with its own %s is asked for it by chains',
    async (name) => {
      let asked = 0;
      const session = new Session();
      const original = session[name].bind(session) as (...args: unknown[]) => never;
      session[name] = (...args: unknown[]) => {
        asked++;
        return original(...args);
      };
      const { chain } = chained(perGroup(1), 9);
      granted(
        name === 'acquireLease' ? chain.attemptAcquire(visit(session)) : await chain.acquire(visit(session)),
      );
      expect(asked).toBe(1);
    },
  );

  it('remembers that it was refused, alone or in a chain, and not that it was granted or gave up', async () => {
    const base = perGroup(1, { queueLimit: 1 });
    const { chain } = chained(base, 9);
    const limiter = new VisitLimiter(base);
    const held = granted(base.attemptAcquire(visit(null)));
    const sessions = [0, 1, 2, 3].map(() => new OddSession());
    const [waiting, inChain, alone, gone] = sessions;
    const abort = new AbortController();
    const givenUp = limiter.acquire(visit(gone!), 1, { signal: abort.signal });
    abort.abort(new Error('gone'));
    await expect(givenUp).rejects.toThrow('gone');
    const grantedLater = limiter.acquire(visit(waiting!));
    expect(chain.attemptAcquire(visit(inChain!)).isAcquired).toBe(false);
    expect((await limiter.acquire(visit(alone!))).isAcquired).toBe(false);
    held.dispose();
    granted(await grantedLater);
    expect(sessions.map((session) => session.hasBeenRefused)).toEqual([false, true, true, false]);
  });

  it('has no lease where its storage says null', () => {
    const base = perGroup(1);
    const session = new OddSession();
    session.tryGet = () => null;
    granted(new VisitLimiter(base).attemptAcquire(visit(session)));
    expect(freeAndQueued(base)).toEqual([0, 0]);
  });

  it('whose storage ends it while it stores gives the permit back', () => {
    const base = perGroup(1);
    const session = new OddSession();
    session.trySet = (lease) => {
      session.lease = lease;
      session.dispose();
      return { stored: true, lease };
    };
    expect(() => new VisitLimiter(base).attemptAcquire(visit(session))).toThrow(ObjectDisposedError);
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('is told what its storage did wrong, with a code', () => {
    const limiter = new VisitLimiter(perGroup(1));
    const session = new OddSession();
    session.trySet = (lease) => ({ stored: 'yes', lease });
    expect(() => limiter.attemptAcquire(visit(session))).toThrow(
      coded(/^OddSession\.trySetLease must return .* got \{ stored: "yes", lease: an object/),
    );
    session.trySet = null;
    session.derive = () => 5;
    expect(() => limiter.attemptAcquire(visit(session))).toThrow(
      coded(/^OddSession\.makeDerived must return a DerivedLease, but got 5\.$/),
    );
  });

  it('tells all that goes wrong at its end, and has ended all the same', () => {
    const base = perGroup(1);
    const session = new OddSession();
    granted(new VisitLimiter(base).attemptAcquire(visit(session)));
    for (const message of ['one', 'other']) {
      session.onDisposed(() => {
        throw new Error(message);
      });
    }
    session.tryGet = () => {
      throw new Error('lost');
    };
    expect(() => session.dispose()).toThrow(
      expect.objectContaining({
        message: 'OddSession failed to end in several ways.',
        errors: ['one', 'other', 'lost'].map((message) => new Error(message)),
      }) as Error,
    );
    expect(freeAndQueued(base)).toEqual([1, 0]);
    expect(() => session.dispose()).not.toThrow();
  });

  it('tells what went wrong with a lease that it could not store, and with the end of that', () => {
    const base = perGroup(1);
    const attempt = base.attemptAcquire.bind(base);
    base.attemptAcquire = (request, permits) => {
      const lease = attempt(request, permits);
      lease.dispose = () => {
        throw new Error('stuck');
      };
      return lease;
    };
    const session = new OddSession();
    session.trySet = () => {
      throw new Error('full');
    };
    expect(() => session.acquireLease(base, visit(session), 1)).toThrow(
      expect.objectContaining({
        message: 'A lease that OddSession could not store failed to end.',
        errors: [new Error('stuck'), new Error('full')],
      }) as Error,
    );
  });
});

describe('a request that has joined the acquisition of its session outside of the chain', () => {
  it('goes on when a chain gets the session its lease', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    granted(base.attemptAcquire(visit(null)));
    const session = new Session();
    const direct = new VisitLimiter(base).acquire(visit(session));
    granted(chained(base, 9).chain.attemptAcquire(visit(session, 'elsewhere')));
    expect(await stateOf(direct)).toBe('granted');
    expect(freeAndQueued(base)).toEqual([0, 0]);
  });

  it('is refused with it', async () => {
    const base = perGroup(1, { queueLimit: 1, queueProcessingOrder: 'newestFirst' });
    granted(base.attemptAcquire(visit(null)));
    const session = new Session();
    const direct = new VisitLimiter(base).acquire(visit(session));
    const inChain = chained(base, 9).chain.acquire(visit(session));
    void base.acquire(visit(null));
    expect(await stateOf(direct)).toBe('refused: Evicted by a newer request');
    expect(await stateOf(inChain)).toBe('refused: Evicted by a newer request');
  });

  it('fails with it', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    granted(base.attemptAcquire(visit(null)));
    let fail: (error: Error) => void = () => undefined;
    base.acquire = () => new Promise((_, reject) => (fail = reject));
    const session = new Session();
    const direct = new VisitLimiter(base).acquire(visit(session));
    const inChain = chained(base, 9).chain.acquire(visit(session));
    expect(await stateOf(inChain)).toBe('pending');
    fail(new RangeError('broken'));
    expect(await stateOf(direct)).toBe('rejected: RangeError');
    expect(await stateOf(inChain)).toBe('rejected: RangeError');
  });
});

describe('a request in a chain whose time is over', () => {
  it('is counted as refused, by the limiter and by its session', async () => {
    const clock = new FakeClock();
    const base = perGroup(1, { queueLimit: 5, clock });
    granted(base.attemptAcquire(visit(null)));
    const session = new OddSession();
    const waiting = chained(base, 9).chain.acquire(visit(session), 1, { maxWaitMs: 50 });
    expect(await stateOf(waiting)).toBe('pending');
    clock.advance(50);
    expect(reasonOf(await waiting)).toBe('Wait limit reached');
    expect(base.getStatistics(visit(null))).toMatchObject({ totalFailedLeases: 1, currentQueuedCount: 0 });
    expect(session.hasBeenRefused).toBe(true);
  });
});
