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
import type { RateLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';

/** A partitioned limiter with one partition, whose limiter is known. */
const over = (limiter: RateLimiter) =>
  createPartitionedRateLimiter((_visit: Visit) => RateLimitPartition.get('all', () => limiter));

describe('the place of a session in the queue of its reference limiter', () => {
  it('stays where it is when more of its requests come', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const { chain } = chained(base, 100);
    const held = granted(base.attemptAcquire(visit(null)));
    const session = new Session();
    const first = chain.acquire(visit(session));
    const other = base.acquire(visit(null));
    const second = chain.acquire(visit(session));
    held.dispose();
    expect([await stateOf(first), await stateOf(second)]).toEqual(['granted', 'granted']);
    expect(await stateOf(other)).toBe('pending');
  });

  it('lets nobody of the session pass those before it when one of its requests gives up', async () => {
    const base = perGroup(2, { queueLimit: 5 });
    const { chain } = chained(base, 100);
    const held = granted(base.attemptAcquire(visit(null)));
    const big = base.acquire(visit(null), 2);
    const session = new Session();
    const abort = new AbortController();
    const gone = chain.acquire(visit(session), 1, { signal: abort.signal });
    const waiting = chain.acquire(visit(session));
    abort.abort(new Error('gone'));
    expect(await stateOf(gone)).toBe('rejected: Error');
    expect([await stateOf(waiting), await stateOf(big)]).toEqual(['pending', 'pending']);
    held.dispose();
    expect([await stateOf(waiting), await stateOf(big)]).toEqual(['pending', 'granted']);
  });

  it('lets nobody pass after a turn at which they had to move on either', async () => {
    const base = perGroup(2, { queueLimit: 9 });
    const { all, chain } = chained(base, 2, 5);
    const session = new Session();
    const heldOfBase = granted(base.attemptAcquire(visit(null), 2));
    const movedOn = chain.acquire(visit(session));
    const heldOfAll = granted(all.attemptAcquire(visit(null), 2));
    heldOfBase.dispose();
    expect(freeAndQueued(all)).toEqual([0, 1]);

    granted(base.attemptAcquire(visit(null)));
    const big = base.acquire(visit(null), 2);
    heldOfAll.dispose();
    expect(await stateOf(movedOn)).toBe('pending');
    const abort = new AbortController();
    const gone = chain.acquire(visit(session), 1, { signal: abort.signal });
    abort.abort(new Error('gone'));
    expect(await stateOf(gone)).toBe('rejected: Error');
    expect([await stateOf(movedOn), await stateOf(big)]).toEqual(['pending', 'pending']);
    expect(freeAndQueued(base)).toEqual([1, 3]);
  });

  it('is kept for a request that finds the permit taken at its turn', async () => {
    const clock = new FakeClock();
    const base = new ConcurrencyLimiter({
      permitLimit: 1,
      queueLimit: 9,
      queueProcessingOrder: 'newestFirst',
      clock,
    });
    const rate = new FixedWindowRateLimiter({ permitLimit: 2, windowMs: 100, queueLimit: 9, clock });
    const held = granted(base.attemptAcquire());
    const session = new Session();
    const chain = createChainedPartitionedRateLimiter(over(rate), new VisitLimiter(over(base)));
    const waiting = chain.acquire(visit(session));
    granted(rate.attemptAcquire(2));
    const newcomer = createChainedRateLimiter(rate, base).acquire();
    // The window is over, but nobody has looked yet: that is done at the turn of the session, and the newcomer is first.
    clock.skip(100);
    held.dispose();
    const lease = await newcomer;
    expect(lease.isAcquired).toBe(true);
    expect(await stateOf(waiting)).toBe('pending');
    lease.dispose();
    expect(await stateOf(waiting)).toBe('granted');
  });

  it('serves the requests in the order in which they came', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const { all, chain } = chained(base, 1, 5);
    const held = granted(base.attemptAcquire(visit(null)));
    const session = new Session();
    const waiting = [chain.acquire(visit(session)), chain.acquire(visit(session))];
    held.dispose();
    expect(await stateOf(waiting[0]!)).toBe('granted');
    expect(await stateOf(waiting[1]!)).toBe('pending');
    expect(freeAndQueued(all)).toEqual([0, 1]);
  });

  it('is before all others once one of the requests goes on by reserving', async () => {
    const base = perGroup(1, { queueLimit: 9 });
    const { all, chain } = chained(base, 1, 9);
    let ofAll = granted(all.attemptAcquire(visit(null)));
    let ofBase = granted(base.attemptAcquire(visit(null)));
    const session = new Session();
    const waiting = chain.acquire(visit(session));
    // At each turn the other one is taken: the fourth time it reserves, in the order of creation `all` first.
    for (let turn = 0; turn < 2; turn++) {
      ofAll.dispose();
      ofAll = granted(all.attemptAcquire(visit(null)));
      ofBase.dispose();
      ofBase = granted(base.attemptAcquire(visit(null)));
    }
    const before = base.acquire(visit(null));
    // Those of the session that wait already come along: they have one place together.
    const second = chained(base, 9).chain.acquire(visit(session));
    ofAll.dispose();
    ofBase.dispose();
    expect([await stateOf(waiting), await stateOf(second)]).toEqual(['granted', 'granted']);
    expect(await stateOf(before)).toBe('pending');
    expect(freeAndQueued(base)).toEqual([0, 1]);
  });
});

describe('requests of a session that have joined its acquisition outside of the chain', () => {
  it('keep a place of their own that they had before when it is refused', async () => {
    const base = perGroup(1, { queueLimit: 1 });
    const { chain } = chained(base, 9);
    const held = granted(base.attemptAcquire(visit(null)));
    const session = new Session();
    const waiting = chain.acquire(visit(session));
    const refused = new VisitLimiter(base).acquire(visit(session));
    expect(await stateOf(refused)).toBe('refused: Queue limit reached');
    expect(await stateOf(waiting)).toBe('pending');
    held.dispose();
    expect(await stateOf(waiting)).toBe('granted');
  });

  it('keep it when it is given up, though the queue is full', async () => {
    const base = perGroup(2, { queueLimit: 2 });
    const { chain } = chained(base, 9);
    const held = granted(base.attemptAcquire(visit(null), 2));
    const session = new Session();
    const waiting = chain.acquire(visit(session));
    const abort = new AbortController();
    const direct = new VisitLimiter(base).acquire(visit(session), 1, { signal: abort.signal });
    expect(freeAndQueued(base)).toEqual([0, 2]);
    abort.abort(new Error('gone'));
    expect(await stateOf(direct)).toBe('rejected: Error');
    expect(await stateOf(waiting)).toBe('pending');
    expect(freeAndQueued(base)).toEqual([0, 1]);
    held.dispose();
    expect(await stateOf(waiting)).toBe('granted');
  });

  it('take no place where they wait for something else when it is given up', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const { all, chain } = chained(base, 1, 5);
    granted(all.attemptAcquire(visit(null)));
    const session = new Session();
    const forOthers = chain.acquire(visit(session));
    granted(base.attemptAcquire(visit(null)));
    const abort = new AbortController();
    const direct = new VisitLimiter(base).acquire(visit(session), 1, { signal: abort.signal });
    abort.abort(new Error('gone'));
    expect(await stateOf(direct)).toBe('rejected: Error');
    expect(freeAndQueued(base)).toEqual([0, 0]);
    expect(await stateOf(forOthers)).toBe('pending');
  });

  it('are refused when it is given up and nobody may wait any more', async () => {
    const running = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5 });
    const base = over(running);
    granted(running.attemptAcquire());
    const session = new Session();
    const abort = new AbortController();
    const direct = new VisitLimiter(base).acquire(visit(session), 1, { signal: abort.signal });
    const joined = chained(base, 9).chain.acquire(visit(session));
    running.updateOptions({ queueLimit: 0 });
    abort.abort(new Error('gone'));
    expect(await stateOf(direct)).toBe('rejected: Error');
    expect(await stateOf(joined)).toBe('refused: Permit limit reached');
  });

  it('wait no longer than they are ready to', async () => {
    const clock = new FakeClock();
    const base = perGroup(1, { queueLimit: 5, clock });
    granted(base.attemptAcquire(visit(null)));
    const session = new Session();
    const direct = new VisitLimiter(base).acquire(visit(session));
    const joined = chained(base, 9).chain.acquire(visit(session), 1, { maxWaitMs: 50 });
    clock.advance(50);
    expect(await stateOf(joined)).toBe('refused: Wait limit reached');
    expect(await stateOf(direct)).toBe('pending');
  });

  it('go all on with it, whichever permits they would have asked for', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const held = granted(base.attemptAcquire(visit(null)));
    granted(base.attemptAcquire(visit(null, 'elsewhere')));
    const session = new Session();
    const direct = new VisitLimiter(base).acquire(visit(session));
    const { chain } = chained(base, 9);
    const joined = ['group', 'elsewhere'].map((group) => chain.acquire(visit(session, group)));
    held.dispose();
    expect(await stateOf(direct)).toBe('granted');
    for (const one of joined) expect(await stateOf(one)).toBe('granted');
    expect(freeAndQueued(base, 'elsewhere')).toEqual([0, 0]);
  });
});
