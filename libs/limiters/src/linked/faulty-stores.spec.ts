import {
  freeAndQueued,
  perGroup,
  Session,
  stateOf,
  visit,
  VisitLimiter,
} from '../../conformance/linked/visits.js';
import type { Visit } from '../../conformance/linked/visits.js';
import type { DerivedLease, PartitionedRateLimiter, RateLimitLease } from '../index.js';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  LinkedLeaseRateLimiter,
  RateLimitPartition,
} from '../index.js';

/** A session whose storage answers what it is told to. */
class FaultySession extends Session {
  tryGet: () => unknown = () => this.lease;
  trySet: (lease: RateLimitLease) => unknown = (lease) => super.trySetLease(lease);
  derive: (() => unknown) | null = null;

  protected override tryGetLease(): RateLimitLease | undefined {
    return this.tryGet() as RateLimitLease | undefined;
  }

  protected override trySetLease(lease: RateLimitLease): ReturnType<Session['trySetLease']> {
    return this.trySet(lease) as ReturnType<Session['trySetLease']>;
  }

  protected override makeDerived(lease: RateLimitLease, permitCount: number): DerivedLease {
    return this.derive === null ? super.makeDerived(lease, permitCount) : (this.derive() as DerivedLease);
  }
}

function boom(): never {
  throw new Error('boom');
}

const FAULTS: [name: string, spoil: (session: FaultySession) => void, message: RegExp][] = [
  ['throws when a lease is set', (s) => (s.trySet = boom), /^boom$/],
  ['throws when a lease is read', (s) => (s.tryGet = boom), /^boom$/],
  ['throws when a lease is derived', (s) => (s.derive = boom), /^boom$/],
  ['answers nothing', (s) => (s.trySet = () => undefined), /FaultySession\.trySetLease .* got undefined/],
  ['answers null', (s) => (s.trySet = () => null), /FaultySession\.trySetLease .* got null/],
  ['answers true', (s) => (s.trySet = () => true), /FaultySession\.trySetLease .* got true/],
  [
    'answers without a lease',
    (s) => (s.trySet = () => ({ stored: true })),
    /FaultySession\.trySetLease .* got \{ stored: true, lease: undefined \}/,
  ],
  [
    'stores nothing and has no earlier lease',
    (s) => (s.trySet = (lease) => ({ stored: false, lease })),
    /FaultySession\.trySetLease .* the earlier one/,
  ],
  [
    'has something that is no lease',
    (s) => (s.tryGet = () => ({})),
    /FaultySession\.tryGetLease .* an object/,
  ],
  ['derives nothing', (s) => (s.derive = () => undefined), /FaultySession\.makeDerived .* got undefined/],
];

describe.each(FAULTS)('a store that %s', (_name, spoil, message) => {
  function setUp() {
    const base = perGroup(1, { queueLimit: 5 });
    const all = createPartitionedRateLimiter((_visit: Visit) =>
      RateLimitPartition.getFixedWindowLimiter('all', () => ({ permitLimit: 9, windowMs: 60_000 })),
    );
    const limiter = new VisitLimiter(base);
    const chain = createChainedPartitionedRateLimiter(all, limiter);
    const session = new FaultySession();
    spoil(session);
    return { base, all, limiter, chain, session };
  }

  /** Ends the session, whatever its store says to that. */
  function end(session: Session): void {
    try {
      session.dispose();
    } catch {
      // That it fails to end is part of the fault.
    }
  }

  it('fails the request that asks now, and keeps no permit', () => {
    const { base, limiter, session } = setUp();
    expect(() => limiter.attemptAcquire(visit(session))).toThrow(message);
    end(session);
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('fails all requests that wait, and keeps no permit', async () => {
    const { base, limiter, session } = setUp();
    const held = limiter.attemptAcquire(visit(null));
    const waiting = [limiter.acquire(visit(session)), limiter.acquire(visit(session))].map(async (one) =>
      expect(one).rejects.toThrow(message),
    );
    held.dispose();
    await Promise.all(waiting);
    end(session);
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('fails the request of a chain, and charges nobody', async () => {
    const { base, all, chain, session } = setUp();
    expect(() => chain.attemptAcquire(visit(session))).toThrow(message);
    await expect(chain.acquire(visit(session))).rejects.toThrow(message);
    end(session);
    expect(freeAndQueued(base)).toEqual([1, 0]);
    expect(all.getStatistics(visit(null))).toMatchObject({
      currentAvailablePermits: 9,
      totalSuccessfulLeases: 0,
    });
  });

  it('fails the request of a chain at its turn, and nobody else', async () => {
    const { base, all, chain, session } = setUp();
    const first = new Session();
    const firstLease = chain.attemptAcquire(visit(first));
    expect(firstLease.isAcquired).toBe(true);
    const failing = chain.acquire(visit(session));
    const behind = chain.acquire(visit(new Session()));

    first.dispose();
    await expect(failing).rejects.toThrow(message);
    end(session);
    expect(await stateOf(behind)).toBe('granted');
    expect(freeAndQueued(base)).toEqual([0, 0]);
    expect(all.getStatistics(visit(null))!.currentAvailablePermits).toBe(7);
  });
});

describe('a store that loses what it has stored', () => {
  it('gives everything back at the end all the same', () => {
    const base = perGroup(5);
    const limiter = new VisitLimiter(base);
    const session = new FaultySession();
    session.trySet = (lease) => ({ stored: true, lease });
    session.tryGet = () => undefined;
    limiter.attemptAcquire(visit(session));
    limiter.attemptAcquire(visit(session));
    expect(freeAndQueued(base)).toEqual([3, 0]);

    session.dispose();
    expect(freeAndQueued(base)).toEqual([5, 0]);
  });

  it('does not answer with a lease that it has stored and thrown at', () => {
    const base = perGroup(1);
    const limiter = new VisitLimiter(base);
    const session = new FaultySession();
    session.trySet = (lease) => {
      session.lease = lease;
      return boom();
    };
    expect(() => limiter.attemptAcquire(visit(session))).toThrow('boom');
    expect(limiter.attemptAcquire(visit(new Session())).isAcquired).toBe(true);
    expect(limiter.attemptAcquire(visit(session)).isAcquired).toBe(false);
  });
});

describe('a store that ends its session while a lease is stored', () => {
  it('leaves nothing behind', async () => {
    const base = perGroup(1);
    const limiter = new VisitLimiter(base);
    const session = new FaultySession();
    session.trySet = (lease) => {
      session.lease = lease;
      session.dispose();
      return { stored: true, lease };
    };
    const waiting = limiter.acquire(visit(session));
    expect(await stateOf(waiting)).toBe('refused: Owner disposed');
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });
});

describe('a subclass that names something else as a store', () => {
  class Nonsense extends LinkedLeaseRateLimiter<Visit> {
    constructor(
      base: PartitionedRateLimiter<Visit>,
      readonly answer: unknown,
    ) {
      super(base);
    }

    protected override getLeaseStore(): never {
      return this.answer as never;
    }
  }

  it.each([{}, 'session', 5])('fails with its name: %p', async (answer) => {
    const base = perGroup(1);
    const limiter = new Nonsense(base, answer);
    const message = /^Nonsense\.getLeaseStore must return a ShareableLeaseOwner or null/;
    expect(() => limiter.attemptAcquire(visit(null))).toThrow(message);
    await expect(limiter.acquire(visit(null))).rejects.toThrow(message);
    await expect(createChainedPartitionedRateLimiter(limiter).acquire(visit(null))).rejects.toThrow(message);
  });

  it('fails when the store answers with something else than a lease', async () => {
    const store = { acquireLease: () => 5, acquireLeaseAsync: () => undefined };
    const limiter = new Nonsense(perGroup(1), store);
    expect(() => limiter.attemptAcquire(visit(null))).toThrow(/must answer with a lease, but got 5/);
    await expect(limiter.acquire(visit(null))).rejects.toThrow(/must answer with a lease, but got undefined/);
  });
});
