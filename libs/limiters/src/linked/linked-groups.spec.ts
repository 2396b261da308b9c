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
  chainParticipants,
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
  TokenBucketRateLimiter,
} from '../index.js';
import type { ChainParticipant, RateLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';

/** A partitioned limiter whose groups have limiters that are known. */
const over = (limiters: Record<string, RateLimiter>) =>
  createPartitionedRateLimiter(({ group }: Visit) => RateLimitPartition.get(group, () => limiters[group]!));

const free = (...limiters: RateLimiter[]): number[] =>
  limiters.map((limiter) => limiter.getStatistics()!.currentAvailablePermits);

const one = (): ConcurrencyLimiter => new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 9 });

const participantOf = (limiter: ConcurrencyLimiter): ChainParticipant => limiter[chainParticipants]()![0]!;

describe('a reference limiter of several', () => {
  it('gives back what each of them has given when the session ends', () => {
    const [first, second] = [one(), one()];
    const { chain } = chained(over({ group: createChainedRateLimiter(first, second) }), 9);
    const session = new Session();
    granted(chain.attemptAcquire(visit(session)));
    expect(free(first, second)).toEqual([0, 0]);
    session.dispose();
    expect(free(first, second)).toEqual([1, 1]);
  });

  it('shows in the lease of a chain as one: nothing of its parts', () => {
    const { chain } = chained(over({ group: createChainedRateLimiter(one(), one()) }), 9);
    const lease = granted(chain.attemptAcquire(visit(new Session())));
    expect([...lease.metadataNames]).toEqual([]);
    expect(lease.getMetadata('RETRY_AFTER')).toBeUndefined();
    lease.dispose();
    expect(lease.isAcquired).toBe(true);
  });

  it('gives back what it has given already where one of them fails', () => {
    class Failing extends ConcurrencyLimiter {
      override [chainParticipants](): readonly ChainParticipant[] {
        const participant = super[chainParticipants]()![0]!;
        const take = (): never => {
          throw new Error('out of order');
        };
        return [new Proxy(participant, { get: (of, name) => (name === 'take' ? take : bound(of, name)) })];
      }
    }
    const bound = (of: object, name: string | symbol): unknown => {
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === 'function' ? (value.bind(of) as unknown) : value;
    };
    const first = one();
    const second = new Failing({ permitLimit: 1 });
    const { all, chain } = chained(over({ group: createChainedRateLimiter(first, second) }), 9);
    const session = new Session();
    expect(() => chain.attemptAcquire(visit(session))).toThrow('out of order');
    expect(free(first, second)).toEqual([1, 1]);
    expect(all.getStatistics(visit(null))!.currentAvailablePermits).toBe(9);
    session.dispose();
    expect(free(first, second)).toEqual([1, 1]);
  });
});

describe('requests of one session that wait for different permits', () => {
  it('have places of their own: where one is served, all go on', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    const held = granted(base.attemptAcquire(visit(null)));
    const { chain } = chained(base, 9);
    const session = new Session();
    const waiting = chain.acquire(visit(session));
    granted(chain.attemptAcquire(visit(session, 'elsewhere')));
    expect(freeAndQueued(base, 'elsewhere')).toEqual([0, 0]);
    expect(await stateOf(waiting)).toBe('granted');
    expect(freeAndQueued(base)).toEqual([0, 0]);
    held.dispose();
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });

  it.each([
    ['less', (held: RateLimiter) => held],
    ['others', (held: RateLimiter) => createChainedRateLimiter(held, one())],
  ])('take what the one served asks for, where that is %s than the one before', async (_what, make) => {
    const [busy, extra] = [one(), one()];
    const before = granted(busy.attemptAcquire());
    const base = over({ both: createChainedRateLimiter(busy, extra), other: make(busy) });
    const { chain } = chained(base, 9);
    const session = new Session();
    const abort = new AbortController();
    const gone = chain.acquire(visit(session, 'both'), 1, { signal: abort.signal });
    const waiting = chain.acquire(visit(session, 'other'));
    abort.abort(new Error('gone'));
    expect(await stateOf(gone)).toBe('rejected: Error');
    before.dispose();
    expect(await stateOf(waiting)).toBe('granted');
    expect(free(busy, extra)).toEqual([0, 1]);
  });

  it('go on where some of them have given up', async () => {
    const base = perGroup(1, { queueLimit: 5 });
    granted(base.attemptAcquire(visit(null)));
    const { chain } = chained(base, 9);
    const session = new Session();
    const abort = new AbortController();
    const gone = chain.acquire(visit(session), 1, { signal: abort.signal });
    const waiting = chain.acquire(visit(session));
    abort.abort(new Error('gone'));
    expect(await stateOf(gone)).toBe('rejected: Error');
    session.acquireLease(perGroup(1), visit(session), 1);
    expect(await stateOf(waiting)).toBe('granted');
    expect(freeAndQueued(base)).toEqual([0, 0]);
  });

  it('leave nothing behind that a later request would be compared with', async () => {
    const busy = one();
    const held = granted(busy.attemptAcquire());
    const base = over({ busy, other: one() });
    const { chain } = chained(base, 9);
    const session = new Session();
    const abort = new AbortController();
    const waiting = [0, 1].map(async () =>
      expect(chain.acquire(visit(session, 'busy'), 1, { signal: abort.signal })).rejects.toThrow('gone'),
    );
    abort.abort(new Error('gone'));
    await Promise.all(waiting);
    const compared = jest.spyOn(participantOf(busy), 'isSame');
    granted(chain.attemptAcquire(visit(session, 'other')));
    expect(compared).not.toHaveBeenCalled();
    held.dispose();
  });
});

describe('a session that has its lease', () => {
  it('takes nothing more for requests that had waited for another member', async () => {
    const rate = new FixedWindowRateLimiter({ permitLimit: 5, windowMs: 1_000, clock: new FakeClock() });
    const base = over({ group: rate });
    const { all, chain } = chained(base, 1, 5);
    const held = granted(all.attemptAcquire(visit(null)));
    const session = new Session();
    const waiting = chain.acquire(visit(session));
    granted(new VisitLimiter(base).attemptAcquire(visit(session)));
    held.dispose();
    expect(await stateOf(waiting)).toBe('granted');
    expect(free(rate)).toEqual([4]);
    expect(rate.getStatistics().totalSuccessfulLeases).toBe(1);
  });

  it('ends the wait of its requests for another member with itself', async () => {
    const base = perGroup(1);
    const { all, chain } = chained(base, 1, 5);
    const session = new Session();
    granted(new VisitLimiter(base).attemptAcquire(visit(session)));
    granted(all.attemptAcquire(visit(null)));
    const waiting = chain.acquire(visit(session));
    session.dispose();
    expect(await stateOf(waiting)).toBe('refused: Owner disposed');
    expect(freeAndQueued(all)).toEqual([0, 0]);
  });

  it.each(['before', 'meanwhile'])(
    'keeps nothing of requests that have been served where it had it %s',
    async (when) => {
      const requests = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5 });
      const base = perGroup(1);
      const chain = createChainedPartitionedRateLimiter(over({ group: requests }), new VisitLimiter(base));
      const session = new Session();
      if (when === 'before') granted(new VisitLimiter(base).attemptAcquire(visit(session)));
      const held = granted(requests.attemptAcquire());
      const waiting = chain.acquire(visit(session));
      held.dispose();
      granted(await waiting);
      const asked = jest.spyOn(participantOf(requests), 'quota');
      session.dispose();
      expect(asked).not.toHaveBeenCalled();
    },
  );
});

describe('a session that reserves permits', () => {
  /** A clock that goes on between two readings of one turn, as that of a process does. */
  class RunningClock extends FakeClock {
    #left = Infinity;

    override now(): number {
      if (--this.#left === 0) this.skip(100);
      return super.now();
    }

    jumpAtReading(number: number): void {
      this.#left = number;
    }
  }

  /** What came of two requests of a session, of which one has reserved, when the clock goes on at a reading. */
  async function overtakenAt(reading: number, order: readonly ('rate' | 'running')[]): Promise<number> {
    const clock = new RunningClock();
    const rate = new TokenBucketRateLimiter({
      tokenLimit: 2,
      tokensPerPeriod: 1,
      replenishmentPeriodMs: 100,
      refill: 'interval',
      queueLimit: 9,
      clock,
    });
    const running = new ConcurrencyLimiter({ permitLimit: 2 });
    const requests = new ConcurrencyLimiter({ permitLimit: 2, queueLimit: 9 });
    const chain = createChainedPartitionedRateLimiter(
      new VisitLimiter(
        over({ group: createChainedRateLimiter(...order.map((name) => ({ rate, running })[name])) }),
      ),
      over({ group: requests }),
    );
    const session = new Session();
    granted(rate.attemptAcquire(2));
    let held = granted(requests.attemptAcquire(2));
    const waiting = chain.acquire(visit(session));
    // Passed over at each turn, it goes on by reserving: the token, and then it waits for the other.
    for (let turn = 0; turn < 2; turn++) {
      clock.advance(100);
      granted(rate.attemptAcquire());
      held.dispose();
      held = granted(requests.attemptAcquire(2));
    }
    clock.advance(100);
    expect([free(rate, requests), requests.getStatistics().currentQueuedCount]).toEqual([[0, 0], 1]);
    const second = chain.acquire(visit(session));
    expect(rate.getStatistics().currentQueuedCount).toBe(1);

    clock.jumpAtReading(reading);
    held.dispose();
    expect([await stateOf(waiting), await stateOf(second)]).toEqual(['granted', 'granted']);
    expect(rate.getStatistics().currentQueuedCount).toBe(0);
    expect(free(requests, running)).toEqual([0, order.includes('running') ? 1 : 2]);
    for (const lease of [await waiting, await second]) lease.dispose();
    expect(session.released).toHaveLength(2);
    expect(free(requests, running)).toEqual([2, order.includes('running') ? 1 : 2]);
    session.dispose();
    expect(free(running)).toEqual([2]);
    return rate.getStatistics().totalSuccessfulLeases;
  }

  it.each([
    ['one', ['rate'] as const],
    ['two', ['rate', 'running'] as const],
    ['two, the other way round', ['running', 'rate'] as const],
  ])('has one lease where another of its requests overtakes it at its turn: of %s', async (_what, order) => {
    const taken: number[] = [];
    // oxlint-disable-next-line no-await-in-loop -- one case after the other
    for (let reading = 1; reading < 9; reading++) taken.push(await overtakenAt(reading, order));
    // Where the time of the second comes just before the reserved token is taken, both have taken one.
    expect(Math.max(...taken)).toBe(5);
    expect(Math.min(...taken)).toBe(4);
  });
});
