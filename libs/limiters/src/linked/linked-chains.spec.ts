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
  createPartitionedRateLimiter,
  ObjectDisposedError,
  RateLimitPartition,
  refusedMember,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

describe('a linked limiter in a chain', () => {
  it('takes one permit for a session, however many its requests take of the others', () => {
    const base = perGroup(2);
    const { all, chain } = chained(base, 10);
    const session = new Session();

    granted(chain.attemptAcquire(visit(session), 3));
    granted(chain.attemptAcquire(visit(session), 3)).dispose();

    expect(freeAndQueued(base)).toEqual([1, 0]);
    expect(all.getStatistics(visit(session))!.currentAvailablePermits).toBe(7);
  });

  it('makes one acquisition for a thousand first requests', async () => {
    const base = perGroup(2);
    const { chain } = chained(base, 5000);
    const session = new Session();

    const leases = await Promise.all(Array.from({ length: 1000 }, () => chain.acquire(visit(session))));

    expect(leases.every((lease) => lease.isAcquired)).toBe(true);
    expect(base.getStatistics(visit(null))!.totalSuccessfulLeases).toBe(1);
  });

  it('charges nobody when the session gets no permit', () => {
    const base = perGroup(1);
    const { all, chain } = chained(base, 10);
    granted(chain.attemptAcquire(visit(new Session())));

    const refused = chain.attemptAcquire(visit(new Session()));

    expect(refused.isAcquired).toBe(false);
    expect(reasonOf(refused)).toBe('Permit limit reached');
    expect(refusedMember(refused)).toBe(1);
    expect(all.getStatistics(visit(null))).toMatchObject({
      currentAvailablePermits: 9,
      totalFailedLeases: 0,
    });
  });

  it('takes no permit for a session whose request another member refuses', () => {
    const base = perGroup(1);
    const { chain } = chained(base, 1);
    granted(chain.attemptAcquire(visit(null, 'other')));
    const session = new Session();

    expect(chain.attemptAcquire(visit(session)).isAcquired).toBe(false);
    expect(session.lease).toBeUndefined();
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it('passes requests of no session on to the reference limiter', () => {
    const base = perGroup(2);
    const { chain } = chained(base, 10);

    const lease = granted(chain.attemptAcquire(visit(null), 2));
    expect(freeAndQueued(base)).toEqual([0, 0]);
    lease.dispose();
    expect(freeAndQueued(base)).toEqual([2, 0]);
  });

  it('needs neither partitioner nor partition once the session has its lease', () => {
    let asked = 0;
    const base = createPartitionedRateLimiter(
      ({ group }: Visit) => {
        asked++;
        return RateLimitPartition.getConcurrencyLimiter(group, () => ({ permitLimit: 1 }));
      },
      { maxPartitions: 1 },
    );
    const { chain } = chained(base, 10);
    const session = new Session();
    granted(chain.attemptAcquire(visit(session)));
    granted(chain.attemptAcquire(visit(session, 'elsewhere')));

    expect(asked).toBe(1);
    expect(reasonOf(chain.attemptAcquire(visit(new Session(), 'elsewhere')))).toBe('Partition limit reached');
  });
});

describe('requests of a session that wait in a chain', () => {
  it('have one place together, and go all when its turn comes', async () => {
    const base = perGroup(1, { queueLimit: 1 });
    const { all, chain } = chained(base, 5000);
    const first = new Session();
    granted(chain.attemptAcquire(visit(first)));
    const session = new Session();

    const waiting = Array.from({ length: 1000 }, () => chain.acquire(visit(session)));
    expect(freeAndQueued(base)).toEqual([0, 1]);
    expect(all.getStatistics(visit(null))!.currentAvailablePermits).toBe(4999);

    first.dispose();
    const leases = await Promise.all(waiting);
    expect(leases.every((lease) => lease.isAcquired)).toBe(true);
    expect(freeAndQueued(base)).toEqual([0, 0]);
    expect(base.getStatistics(visit(null))!.totalSuccessfulLeases).toBe(2);
  });

  it('hand the place on when the first of them gives up, and up when the last one does', async () => {
    const base = perGroup(1, { queueLimit: 2 });
    const { chain } = chained(base, 100);
    const first = new Session();
    granted(chain.attemptAcquire(visit(first)));
    const session = new Session();
    const controllers = [new AbortController(), new AbortController()];
    const waiting = controllers.map(({ signal }) => chain.acquire(visit(session), 1, { signal }));
    const behind = chain.acquire(visit(new Session()));

    controllers[0]!.abort(new Error('gone'));
    expect(await stateOf(waiting[0]!)).toBe('rejected: Error');
    expect(freeAndQueued(base)).toEqual([0, 2]);
    controllers[1]!.abort(new Error('gone'));
    expect(await stateOf(waiting[1]!)).toBe('rejected: Error');
    expect(freeAndQueued(base)).toEqual([0, 1]);

    first.dispose();
    expect(await stateOf(behind)).toBe('granted');
  });

  it('go on at once when the session gets its lease elsewhere', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const limiter = new VisitLimiter(base);
    const { chain } = chained(base, 100);
    const first = new Session();
    granted(chain.attemptAcquire(visit(first)));
    const session = new Session();
    const direct = limiter.acquire(visit(session));
    const inChain = chain.acquire(visit(session));
    expect(freeAndQueued(base)).toEqual([0, 1]);

    first.dispose();
    expect(await stateOf(direct)).toBe('granted');
    expect(await stateOf(inChain)).toBe('granted');
  });

  it('wait for themselves when the request outside of the chain gives up that they have joined', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const { chain } = chained(base, 100);
    const first = new Session();
    granted(chain.attemptAcquire(visit(first)));
    const session = new Session();
    const controller = new AbortController();
    const direct = new VisitLimiter(base).acquire(visit(session), 1, { signal: controller.signal });
    const inChain = chain.acquire(visit(session));

    controller.abort(new Error('gone'));
    expect(await stateOf(direct)).toBe('rejected: Error');
    expect(freeAndQueued(base)).toEqual([0, 1]);
    first.dispose();
    expect(await stateOf(inChain)).toBe('granted');
  });

  it('move on without the permit where another member refuses at their turn', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const { chain } = chained(base, 2, 5);
    const first = new Session();
    const one = granted(chain.attemptAcquire(visit(first)));
    const session = new Session();
    const waiting = chain.acquire(visit(session));
    const two = granted(chain.attemptAcquire(visit(first)));
    one.dispose();
    const three = granted(chain.attemptAcquire(visit(first)));

    first.dispose();
    expect(await stateOf(waiting)).toBe('pending');
    expect(freeAndQueued(base)).toEqual([1, 0]);
    expect(session.lease).toBeUndefined();

    two.dispose();
    expect(await stateOf(waiting)).toBe('granted');
    expect(freeAndQueued(base)).toEqual([0, 0]);
    three.dispose();
  });

  it('are refused when the session ends, wherever they wait', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const { all, chain } = chained(base, 1, 5);
    const session = new Session();
    const held = granted(all.attemptAcquire(visit(null)));
    const forOthers = chain.acquire(visit(session));
    const first = new Session();
    granted(new VisitLimiter(base).attemptAcquire(visit(first)));

    session.dispose();
    const lease = await forOthers;
    expect(reasonOf(lease)).toBe('Owner disposed');
    expect(refusedMember(lease)).toBe(1);
    expect(all.getStatistics(visit(null))!.currentQueuedCount).toBe(0);
    held.dispose();

    const last = new Session();
    const forPermit = chain.acquire(visit(last));
    last.dispose();
    expect(reasonOf(await forPermit)).toBe('Owner disposed');
    expect(freeAndQueued(base)).toEqual([0, 0]);
    expect(() => chain.attemptAcquire(visit(last))).toThrow(ObjectDisposedError);
  });

  it('are refused with their place when a newer request displaces it', async () => {
    const base = perGroup(1, { queueLimit: 1, queueProcessingOrder: 'newestFirst' });
    const { chain } = chained(base, 100);
    const first = new Session();
    granted(chain.attemptAcquire(visit(first)));
    const session = new Session();
    const waiting = [chain.acquire(visit(session)), chain.acquire(visit(session))];
    const newer = chain.acquire(visit(new Session()));

    for (const one of waiting) expect(await stateOf(one)).toBe('refused: Evicted by a newer request');
    first.dispose();
    expect(await stateOf(newer)).toBe('granted');
  });

  it('wait no longer than they are ready to', async () => {
    const clock = new FakeClock();
    const base = perGroup(1, { queueLimit: 5, clock });
    const { chain } = chained(base, 100);
    granted(chain.attemptAcquire(visit(new Session())));
    const session = new Session();
    const short = chain.acquire(visit(session), 1, { maxWaitMs: 10 });
    const long = chain.acquire(visit(session), 1, { maxWaitMs: 20 });
    expect(reasonOf(await chain.acquire(visit(session), 1, { maxWaitMs: 0 }))).toBe('Wait limit reached');

    clock.advance(10);
    expect(await stateOf(short)).toBe('refused: Wait limit reached');
    expect(freeAndQueued(base)).toEqual([0, 1]);
    clock.advance(10);
    expect(await stateOf(long)).toBe('refused: Wait limit reached');
    expect(freeAndQueued(base)).toEqual([0, 0]);
  });

  it('end with the chain and with the reference limiter', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const one = chained(base, 100);
    const two = chained(base, 100);
    granted(one.chain.attemptAcquire(visit(new Session())));
    const session = new Session();
    const inOne = one.chain.acquire(visit(session));
    const inTwo = two.chain.acquire(visit(session));

    one.chain.dispose();
    expect(await stateOf(inOne)).toBe('refused: Limiter disposed');
    expect(freeAndQueued(base)).toEqual([0, 1]);
    base.dispose();
    expect(await stateOf(inTwo)).toBe('refused: Limiter disposed');
  });
});
