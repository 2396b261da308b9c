import { HandGranted } from '../../conformance/linked/hand-granted.js';
import {
  freeAndQueued,
  perGroup,
  reasonOf,
  Session,
  stateOf,
  visit,
  VisitLimiter,
} from '../../conformance/linked/visits.js';
import { MetadataName, ObjectDisposedError } from '../index.js';

describe('a session with a lease', () => {
  it('carries any number of requests by one permit, whatever they ask for', async () => {
    const base = perGroup(2);
    const limiter = new VisitLimiter(base);
    const session = new Session();

    const first = limiter.attemptAcquire(visit(session), 7);
    const leases = [limiter.attemptAcquire(visit(session), 0), await limiter.acquire(visit(session), 100)];

    expect([first, ...leases].every((lease) => lease.isAcquired)).toBe(true);
    expect(
      [first, ...leases].map((lease) => (lease as unknown as { permitCount: number }).permitCount),
    ).toEqual([7, 0, 100]);
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('takes its permit for a first request that asks for none', () => {
    const base = perGroup(2);
    new VisitLimiter(base).attemptAcquire(visit(new Session()), 0);

    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('keeps the permit when its requests end, and gives it back when it ends itself', () => {
    const base = perGroup(1);
    const limiter = new VisitLimiter(base);
    const session = new Session();

    limiter.attemptAcquire(visit(session)).dispose();
    expect(freeAndQueued(base)).toEqual([0, 0]);

    session.dispose();
    session.dispose();
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('asks nobody once it has its lease', () => {
    const base = perGroup(1);
    const limiter = new VisitLimiter(base);
    const session = new Session();
    limiter.attemptAcquire(visit(session));

    base.dispose();

    expect(limiter.attemptAcquire(visit(session)).isAcquired).toBe(true);
  });
});

describe('first requests that come together', () => {
  it('make one acquisition, a thousand of them', async () => {
    const base = perGroup(5);
    const limiter = new VisitLimiter(base);
    const session = new Session();

    const leases = await Promise.all(Array.from({ length: 1000 }, () => limiter.acquire(visit(session))));

    expect(leases.every((lease) => lease.isAcquired)).toBe(true);
    expect(base.getStatistics(visit(null))).toMatchObject({
      currentAvailablePermits: 4,
      totalSuccessfulLeases: 1,
    });
  });

  it('take one place in the queue, a thousand of them', async () => {
    const base = perGroup(1, { queueLimit: 1 });
    const limiter = new VisitLimiter(base);
    const held = limiter.attemptAcquire(visit(null));
    const session = new Session();

    const waiting = Array.from({ length: 1000 }, () => limiter.acquire(visit(session)));
    expect(freeAndQueued(base)).toEqual([0, 1]);
    held.dispose();

    const leases = await Promise.all(waiting);
    expect(leases.every((lease) => lease.isAcquired)).toBe(true);
    expect(base.getStatistics(visit(null))!.totalSuccessfulLeases).toBe(2);
  });

  it('share a refusal, which nobody remembers', async () => {
    const base = perGroup(1);
    const limiter = new VisitLimiter(base);
    const held = limiter.attemptAcquire(visit(null));
    const session = new Session();

    const leases = await Promise.all(Array.from({ length: 20 }, () => limiter.acquire(visit(session))));
    expect(leases.every((lease) => !lease.isAcquired)).toBe(true);
    expect(reasonOf(leases[0]!)).toBe('Permit limit reached');
    expect(base.getStatistics(visit(null))!.totalFailedLeases).toBe(1);

    held.dispose();
    expect((await limiter.acquire(visit(session))).isAcquired).toBe(true);
  });
});

describe('a request that gives up', () => {
  function full() {
    const base = perGroup(1, { queueLimit: 5 });
    const limiter = new VisitLimiter(base);
    return { base, limiter, held: limiter.attemptAcquire(visit(null)), session: new Session() };
  }

  it('leaves the shared acquisition to the others', async () => {
    const { base, limiter, held, session } = full();
    const controller = new AbortController();
    const first = limiter.acquire(visit(session), 1, { signal: controller.signal });
    const second = limiter.acquire(visit(session));

    controller.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    expect(freeAndQueued(base)).toEqual([0, 1]);

    held.dispose();
    expect((await second).isAcquired).toBe(true);
  });

  it('cancels the shared acquisition as the last one', async () => {
    const { base, limiter, held, session } = full();
    const controller = new AbortController();
    const waiting = [1, 2, 3].map(() => limiter.acquire(visit(session), 1, { signal: controller.signal }));

    controller.abort(new Error('gone'));
    expect(freeAndQueued(base)).toEqual([0, 0]);
    for (const one of waiting) expect(await stateOf(one)).toBe('rejected: Error');

    held.dispose();
    expect(freeAndQueued(base)).toEqual([1, 0]);
    expect(session.lease).toBeUndefined();
  });

  it('gives back what was granted in the same turn', async () => {
    const { base, limiter, held, session } = full();
    const controller = new AbortController();
    const waiting = limiter.acquire(visit(session), 1, { signal: controller.signal });

    held.dispose();
    controller.abort(new Error('gone'));

    await expect(waiting).rejects.toThrow('gone');
    expect(await stateOf(Promise.resolve(held))).toBe('granted');
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('makes room for a new acquisition at once', async () => {
    const { base, limiter, held, session } = full();
    const controller = new AbortController();
    const gone = limiter.acquire(visit(session), 1, { signal: controller.signal });
    controller.abort(new Error('gone'));
    const next = limiter.acquire(visit(session));

    await expect(gone).rejects.toThrow('gone');
    held.dispose();
    expect((await next).isAcquired).toBe(true);
    expect(freeAndQueued(base)).toEqual([0, 0]);
  });
});

describe('a request that does not wait', () => {
  it('asks the reference limiter itself, and what it gets is also for those who wait', async () => {
    const base = new HandGranted();
    const limiter = new VisitLimiter(base);
    const session = new Session();
    const waiting = limiter.acquire(visit(session));

    const attempt = limiter.attemptAcquire(visit(session));
    expect(attempt.isAcquired).toBe(true);
    expect(await stateOf(waiting)).toBe('granted');

    base.grant();
    await stateOf(waiting);
    expect(base.held).toBe(1);
    session.dispose();
    expect(base.held).toBe(0);
  });
});

describe('the end of a session', () => {
  it('refuses those who wait, and gives back a grant that comes too late', async () => {
    const base = new HandGranted();
    const limiter = new VisitLimiter(base);
    const session = new Session();
    const waiting = [limiter.acquire(visit(session)), limiter.acquire(visit(session), 3)];

    session.dispose();
    base.grant();

    for (const one of waiting) expect(reasonOf(await one)).toBe('Owner disposed');
    expect(base.held).toBe(0);
  });

  it('gives back a grant of the same turn', async () => {
    const base = perGroup(1, { queueLimit: 1 });
    const limiter = new VisitLimiter(base);
    const held = limiter.attemptAcquire(visit(null));
    const session = new Session();
    const waiting = limiter.acquire(visit(session));

    held.dispose();
    session.dispose();

    expect(await stateOf(waiting)).toBe('refused: Owner disposed');
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('makes later requests errors', async () => {
    const limiter = new VisitLimiter(perGroup(1));
    const session = new Session();
    session.dispose();

    expect(() => limiter.attemptAcquire(visit(session))).toThrow(ObjectDisposedError);
    await expect(limiter.acquire(visit(session))).rejects.toThrow(/^Session was disposed/);
  });

  it('is told to every listener, whatever some of them throw, and to late ones at once', () => {
    const session = new Session();
    const told: string[] = [];
    session.onDisposed(() => told.push('first'));
    session.onDisposed(() => {
      throw new Error('listener');
    });
    session.onDisposed(() => told.push('gone'))();
    session.onDisposed(() => told.push('last'));

    expect(() => session.dispose()).toThrow('listener');
    session.onDisposed(() => told.push('late'));
    expect(told).toEqual(['first', 'last', 'late']);
  });
});

describe('a derived lease', () => {
  it('tells its owner once', () => {
    const limiter = new VisitLimiter(perGroup(1));
    const session = new Session();
    const lease = limiter.attemptAcquire(visit(session));

    lease.dispose();
    lease.dispose();

    expect(session.released).toEqual([lease]);
  });

  it('ends with its owner without a word, and can not touch what comes after', () => {
    const base = perGroup(1);
    const limiter = new VisitLimiter(base);
    const earlier = new Session();
    const handle = limiter.attemptAcquire(visit(earlier));
    earlier.dispose();
    const later = new Session();
    limiter.attemptAcquire(visit(later));

    handle.dispose();

    expect(earlier.released).toEqual([]);
    expect(freeAndQueued(base)).toEqual([0, 0]);
    expect(limiter.attemptAcquire(visit(later)).isAcquired).toBe(true);
  });

  it('copies what the lease tells', () => {
    const limiter = new VisitLimiter(new HandGranted());
    const session = new Session();
    const lease = limiter.attemptAcquire(visit(session));

    expect([...lease.allMetadata()]).toEqual([['NOTE', 'by hand']]);
    session.dispose();
    expect(lease.getMetadata(MetadataName.create<string>('NOTE'))).toBe('by hand');
    expect(lease.isAcquired).toBe(true);
  });
});
