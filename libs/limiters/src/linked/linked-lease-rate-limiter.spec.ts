import { HandGranted } from '../../conformance/linked/hand-granted.js';
import {
  freeAndQueued,
  perGroup,
  Session,
  stateOf,
  visit,
  VisitLimiter,
} from '../../conformance/linked/visits.js';
import type { Visit } from '../../conformance/linked/visits.js';
import type { AsyncPartitionedRateLimiter, RateLimitLease, ShareableLeaseOwner } from '../index.js';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  DerivedLease,
  LinkedLeaseRateLimiter,
  ObjectDisposedError,
  RateLimitPartition,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

describe('a linked limiter', () => {
  it('asks for the store first, once for each acquisition', async () => {
    const asked: string[] = [];
    class Counting extends LinkedLeaseRateLimiter<Visit> {
      protected override getLeaseStore({ session, group }: Visit): Session | null {
        asked.push(group);
        return session as Session | null;
      }
    }
    const limiter = new Counting(perGroup(5));
    limiter.attemptAcquire(visit(null, 'a'));
    await limiter.acquire(visit(new Session(), 'b'));
    createChainedPartitionedRateLimiter(limiter).attemptAcquire(visit(new Session(), 'c'));

    expect(asked).toEqual(['a', 'b', 'c']);
  });

  it('answers without a store as the reference limiter does', async () => {
    const base = perGroup(3, { queueLimit: 2 });
    const limiter = new VisitLimiter(base);
    const lease = limiter.attemptAcquire(visit(null), 2);
    expect(limiter.getStatistics(visit(null))).toEqual(base.getStatistics(visit(null)));
    const waiting = limiter.acquire(visit(null), 2);
    expect(freeAndQueued(base)).toEqual([1, 2]);
    lease.dispose();
    expect(await stateOf(waiting)).toBe('granted');
    expect(() => limiter.attemptAcquire(visit(null), 4)).toThrow(RangeError);
  });

  it('looks at the number, at its end and at the signal before it asks for a store', async () => {
    const limiter = new (class extends LinkedLeaseRateLimiter<Visit> {
      protected override getLeaseStore(): never {
        throw new Error('asked');
      }
    })(perGroup(1));
    await expect(limiter.acquire(visit(null), -1)).rejects.toThrow(RangeError);
    await expect(limiter.acquire(visit(null), 1, { signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
    await expect(limiter.acquire(visit(null))).rejects.toThrow('asked');
    limiter.dispose();
    await expect(limiter.acquire(visit(null), 1, { signal: AbortSignal.abort('gone') })).rejects.toThrow(
      ObjectDisposedError,
    );
  });

  it('ends alone, or with the reference limiter that it owns', () => {
    const shared = perGroup(1);
    const one = new VisitLimiter(shared);
    one.dispose();
    one.dispose();
    expect(() => one.attemptAcquire(visit(null))).toThrow(/^VisitLimiter was disposed/);
    expect(shared.attemptAcquire(visit(null)).isAcquired).toBe(true);

    const owned = perGroup(1);
    new VisitLimiter(owned, { disposeBaseLimiter: true }).dispose();
    expect(() => owned.attemptAcquire(visit(null))).toThrow(ObjectDisposedError);
  });

  it('bounds the wait of one request, not that of the others', async () => {
    const clock = new FakeClock();
    const base = perGroup(1, { queueLimit: 5, clock });
    const limiter = new VisitLimiter(base, { clock });
    const held = limiter.attemptAcquire(visit(null));
    const session = new Session();
    const short = limiter.acquire(visit(session), 1, { maxWaitMs: 10 });
    const long = limiter.acquire(visit(session));

    clock.advance(10);
    expect(await stateOf(short)).toBe('refused: Wait limit reached');
    held.dispose();
    expect(await stateOf(long)).toBe('granted');
    expect(clock.pendingTimers).toBe(1); // the sweep of the partitions
  });

  it('says what is wrong with its arguments', () => {
    expect(() => new VisitLimiter(undefined as never)).toThrow(
      /^VisitLimiter needs a PartitionedRateLimiter/,
    );
    expect(() => new VisitLimiter(perGroup(1), { disposeBaseLimiter: 1 as never })).toThrow(
      /^VisitLimiter: disposeBaseLimiter must be true or false/,
    );
  });

  it('asks a limiter that only waits by waiting', async () => {
    const remote = createPartitionedRateLimiter((_visit: Visit) =>
      RateLimitPartition.getConcurrencyLimiter('all', () => ({ permitLimit: 1 })),
    );
    const asyncOnly: AsyncPartitionedRateLimiter<Visit> = {
      acquire: (resource) => remote.acquire(resource),
      getStatistics: () => null,
      dispose: () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    };
    const session = new Session();
    expect(() => session.acquireLease(asyncOnly, visit(session), 1)).toThrow(/can't answer at once/);
    expect((await session.acquireLeaseAsync(asyncOnly, visit(session), 1)).isAcquired).toBe(true);
    expect(session.acquireLease(asyncOnly, visit(session), 1).isAcquired).toBe(true);
  });
});

describe('a chain with a store or a reference limiter of another maker', () => {
  it('asks one after the other', async () => {
    const base = new HandGranted();
    const other = perGroup(1);
    const chain = createChainedPartitionedRateLimiter<Visit>(other, new VisitLimiter(base));
    const session = new Session();

    const waiting = chain.acquire(visit(session));
    expect(await stateOf(waiting)).toBe('pending');
    expect(freeAndQueued(other)).toEqual([0, 0]);
    base.grant();
    (await waiting).dispose();
    expect(freeAndQueued(other)).toEqual([1, 0]);
    expect(base.held).toBe(1);

    chain.attemptAcquire(visit(session)).dispose();
    session.dispose();
    expect(base.held).toBe(0);
  });

  it('lets another policy of sharing decide', async () => {
    /** Holds a lease of the reference limiter only while a request is under way. */
    class WhileUsed implements ShareableLeaseOwner<Visit> {
      #lease: RateLimitLease | undefined;
      #users = 0;
      acquireLease(
        base: AsyncPartitionedRateLimiter<Visit>,
        resource: Visit,
        permitCount: number,
      ): DerivedLease {
        this.#lease ??= (base as VisitLimiter).attemptAcquire(resource, 1);
        const lease = this.#lease;
        if (lease.isAcquired) this.#users++;
        else this.#lease = undefined;
        return new DerivedLease(this, lease, permitCount);
      }
      async acquireLeaseAsync(
        base: AsyncPartitionedRateLimiter<Visit>,
        resource: Visit,
        permitCount: number,
      ) {
        return this.acquireLease(base, resource, permitCount);
      }
      release(): void {
        if (--this.#users > 0) return;
        this.#lease?.dispose();
        this.#lease = undefined;
      }
      onDisposed(): () => void {
        return () => undefined;
      }
      dispose(): void {
        this.#lease?.dispose();
      }
      [Symbol.dispose](): void {
        this.dispose();
      }
    }
    const base = perGroup(1);
    const store = new WhileUsed();
    class Limiter extends LinkedLeaseRateLimiter<Visit> {
      protected override getLeaseStore(): WhileUsed {
        return store;
      }
    }
    const limiter = new Limiter(base);
    const chain = createChainedPartitionedRateLimiter(perGroup(5), limiter);
    const one = limiter.attemptAcquire(visit(null));
    const two = await chain.acquire(visit(null));
    one.dispose();
    expect(freeAndQueued(base)).toEqual([0, 0]);
    two.dispose();
    expect(freeAndQueued(base)).toEqual([1, 0]);
  });
});
