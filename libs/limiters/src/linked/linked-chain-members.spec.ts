import {
  chained,
  freeAndQueued,
  granted,
  perGroup,
  Session,
  stateOf,
  visit,
  VisitLimiter,
} from '../../conformance/linked/visits.js';
import type { Visit } from '../../conformance/linked/visits.js';
import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

describe('a reference limiter that is a chain itself', () => {
  function pair(clock: FakeClock) {
    const held = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5 });
    const rate = new FixedWindowRateLimiter({ permitLimit: 2, windowMs: 100, queueLimit: 5, clock });
    const base = createPartitionedRateLimiter((_visit: Visit) =>
      RateLimitPartition.get('all', () => createChainedRateLimiter(held, rate)),
    );
    return { held, rate, base, ...chained(base, 100) };
  }

  it('gives both permits together, and takes both back', () => {
    const { held, rate, chain } = pair(new FakeClock());
    const session = new Session();
    granted(chain.attemptAcquire(visit(session)));
    granted(chain.attemptAcquire(visit(session)));

    expect(held.getStatistics().currentAvailablePermits).toBe(0);
    expect(rate.getStatistics().currentAvailablePermits).toBe(1);
    session.dispose();
    expect(held.getStatistics().currentAvailablePermits).toBe(1);
  });

  it('is waited for in the queue of the one that refuses', async () => {
    const clock = new FakeClock();
    const { held, rate, chain } = pair(clock);
    rate.attemptAcquire(2);
    const session = new Session();
    const waiting = [chain.acquire(visit(session)), chain.acquire(visit(session))];
    expect(rate.getStatistics().currentQueuedCount).toBe(1);
    expect(held.getStatistics().currentAvailablePermits).toBe(1);

    clock.advance(100);
    for (const one of waiting) expect(await stateOf(one)).toBe('granted');
    expect(rate.getStatistics().currentAvailablePermits).toBe(1);
    session.dispose();
    expect(held.getStatistics().currentAvailablePermits).toBe(1);
  });
});

describe('a request that was passed over until it reserves the permit of its session', () => {
  async function reserving() {
    const base = perGroup(1, { queueLimit: 5 });
    base.attemptAcquire(visit(null)).dispose();
    const { all, chain } = chained(base, 1, 5);
    const limiters = [all, base];
    const held = limiters.map((limiter) => granted(limiter.attemptAcquire(visit(null))));
    const session = new Session();
    const waiting = chain.acquire(visit(session));
    for (let turn = 0; turn < 5; turn++) {
      held[turn % 2]!.dispose();
      held[turn % 2] = limiters[turn % 2]!.attemptAcquire(visit(null));
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      await stateOf(Promise.resolve(held[0]!));
    }
    return { base, all, session, waiting, held };
  }

  it('keeps what it has until it gets the rest', async () => {
    const { base, session, waiting, held } = await reserving();
    expect(await stateOf(waiting)).toBe('pending');
    for (const lease of held) lease.dispose();
    expect(await stateOf(waiting)).toBe('granted');
    expect(session.lease).toBeDefined();
    expect(freeAndQueued(base)).toEqual([0, 0]);
  });

  it('gives it back when the session ends, or gets a lease without it', async () => {
    for (const change of ['end', 'lease'] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one case after the other
      const { base, all, session, waiting, held } = await reserving();
      if (change === 'end') session.dispose();
      else session.acquireLease(perGroup(1), visit(session), 1);
      for (const lease of held) lease.dispose();
      // oxlint-disable-next-line no-await-in-loop -- one case after the other
      expect(await stateOf(waiting)).toBe(change === 'end' ? 'refused: Owner disposed' : 'granted');
      expect(freeAndQueued(base)).toEqual([1, 0]);
      expect(freeAndQueued(all)).toEqual([change === 'end' ? 1 : 0, 0]);
    }
  });
});

describe('a session that gets its lease while its requests wait for a rate', () => {
  it('leaves neither a place nor a timer behind', async () => {
    const clock = new FakeClock();
    const rate = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 100, queueLimit: 5, clock });
    const base = createPartitionedRateLimiter((_visit: Visit) => RateLimitPartition.get('all', () => rate));
    const { chain } = chained(base, 10);
    rate.attemptAcquire();
    const session = new Session();
    const waiting = chain.acquire(visit(session));
    expect([rate.getStatistics().currentQueuedCount, clock.pendingTimers]).toEqual([1, 1]);

    session.acquireLease(perGroup(1), visit(session), 1);
    expect([rate.getStatistics().currentQueuedCount, clock.pendingTimers]).toEqual([0, 0]);
    expect(await stateOf(waiting)).toBe('granted');
  });
});

describe('two linked limiters in a chain', () => {
  it('grant together or not at all, each with one permit of its own', async () => {
    const sessions = perGroup(1, { queueLimit: 5 });
    const users = perGroup(2, { queueLimit: 5 });
    const user = new Session();
    const chain = createChainedPartitionedRateLimiter<Visit>(
      new VisitLimiter(sessions),
      new VisitLimiter(users).withTranslatedKey(() => visit(user)),
    );
    const first = new Session();
    granted(chain.attemptAcquire(visit(first)));
    const second = new Session();
    const waiting = [chain.acquire(visit(second)), chain.acquire(visit(second))];
    expect(freeAndQueued(users)).toEqual([1, 0]);

    first.dispose();
    for (const one of waiting) expect(await stateOf(one)).toBe('granted');
    expect([freeAndQueued(sessions), freeAndQueued(users)]).toEqual([
      [0, 0],
      [1, 0],
    ]);
    second.dispose();
    user.dispose();
    expect([freeAndQueued(sessions), freeAndQueued(users)]).toEqual([
      [1, 0],
      [2, 0],
    ]);
  });

  it('may stand one over the other', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const tenant = new Session();
    const inner = new VisitLimiter(base).withTranslatedKey(({ group }: Visit) => visit(tenant, group));
    const { chain } = chained(inner, 100);
    const held = granted(base.attemptAcquire(visit(null)));
    const sessions = [new Session(), new Session()];
    const waiting = sessions.map((session) => chain.acquire(visit(session)));
    expect(freeAndQueued(base)).toEqual([0, 1]);

    held.dispose();
    for (const one of waiting) expect(await stateOf(one)).toBe('granted');
    for (const session of sessions) session.dispose();
    expect(freeAndQueued(base)).toEqual([0, 0]);
    tenant.dispose();
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });
});

describe('a session whose permit was refused', () => {
  class Remembering extends Session {
    get wasEverRefused(): boolean {
      return this.wasRefused;
    }
  }

  it('knows it, however it was asked for', async () => {
    const base = perGroup(1, { queueLimit: 1, queueProcessingOrder: 'newestFirst' });
    const limiter = new VisitLimiter(base);
    const { chain } = chained(base, 10);
    const sessions = Array.from({ length: 6 }, () => new Remembering());
    const [granted, attempted, inChain, waiting, displaced] = sessions as [Remembering, ...Remembering[]];
    limiter.attemptAcquire(visit(granted));
    limiter.attemptAcquire(visit(attempted!));
    chain.attemptAcquire(visit(inChain!));
    const first = chain.acquire(visit(displaced!));
    const second = limiter.acquire(visit(waiting!));
    expect(await stateOf(first)).toBe('refused: Evicted by a newer request');
    expect(sessions.map((session) => session.wasEverRefused)).toEqual([
      false,
      true,
      true,
      false,
      true,
      false,
    ]);
    base.dispose();
    expect(await stateOf(second)).toBe('refused: Limiter disposed');
    expect(waiting!.wasEverRefused).toBe(true);
  });
});
