import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  MetadataName,
  ObjectDisposedError,
  PartitionedRateLimiter,
  refusedMember,
  RateLimitPartition,
} from '../index.js';
import type {
  DefaultPartitionedRateLimiter,
  PartitionedRateLimiterOptions,
  RateLimiterStatistics,
  RateLimitLease,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

interface Call {
  readonly user: string;
  readonly route: string;
}

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

class Api {
  readonly clock = new FakeClock();
  partitionerCalls = 0;
  readonly users = this.#per('user', 2);
  readonly routes = this.#per('route', 3);

  #per(
    what: keyof Call,
    permitLimit: number,
    options: PartitionedRateLimiterOptions<string> = {},
  ): DefaultPartitionedRateLimiter<Call, string> {
    return createPartitionedRateLimiter(
      (call: Call) => {
        this.partitionerCalls++;
        return RateLimitPartition.getConcurrencyLimiter(call[what], () => ({ permitLimit, queueLimit: 5 }));
      },
      { clock: this.clock, idleTimeoutMs: 1_000, ...options },
    );
  }

  capped(maxPartitions: number): DefaultPartitionedRateLimiter<Call, string> {
    return this.#per('route', 3, { maxPartitions });
  }
}

const home: Call = { user: 'Anna', route: '/' };

function free(limiter: PartitionedRateLimiter<Call>, call: Call): number | undefined {
  return limiter.getStatistics(call)?.currentAvailablePermits;
}

describe('a chain of partitioned limiters', () => {
  it('takes from the partitions of all, or of none', () => {
    const { users, routes } = new Api();
    const chain = createChainedPartitionedRateLimiter<Call>(routes, users);
    const lease = chain.attemptAcquire(home, 2);
    const refused = chain.attemptAcquire(home);
    expect(refused.isAcquired).toBe(false);
    expect(refusedMember(refused)).toBe(1);
    expect([free(users, home), free(routes, home)]).toEqual([0, 1]);
    expect(chain.attemptAcquire({ user: 'Bert', route: '/' }).isAcquired).toBe(true);
    lease.dispose();
    expect([free(users, home), free(routes, home)]).toEqual([2, 2]);
  });

  it('runs each partitioner once per request', async () => {
    const api = new Api();
    const chain = createChainedPartitionedRateLimiter<Call>(api.users, api.routes);
    chain.attemptAcquire(home);
    expect(api.partitionerCalls).toBe(2);
    await chain.acquire(home);
    expect(api.partitionerCalls).toBe(4);
  });

  it('holds nothing while it waits', async () => {
    const { users, routes } = new Api();
    const chain = createChainedPartitionedRateLimiter<Call>(routes, users);
    const held = users.attemptAcquire(home, 2);
    const waiting = chain.acquire(home);
    await settled();
    expect(free(routes, home)).toBe(3);
    held.dispose();
    expect((await waiting).isAcquired).toBe(true);
    expect(free(routes, home)).toBe(2);
  });

  it('keeps the partitions that a waiting request involves, also those that look idle', async () => {
    const { users, clock } = new Api();
    const unlimited = createPartitionedRateLimiter(
      ({ route }: Call) => RateLimitPartition.getNoLimiter(route),
      {
        clock,
        idleTimeoutMs: 1_000,
      },
    );
    const chain = createChainedPartitionedRateLimiter<Call>(users, unlimited, new Api().routes);
    const held = users.attemptAcquire(home, 2);
    const waiting = chain.acquire(home);
    clock.advance(60_000);
    expect(unlimited.partitionCount).toBe(1);
    held.dispose();
    expect((await waiting).isAcquired).toBe(true);
    clock.advance(2_000);
    expect(unlimited.partitionCount).toBe(0);
  });

  it('is refused by a member at its cap, at no cost for the others', async () => {
    const api = new Api();
    const capped = api.capped(1);
    capped.attemptAcquire(home);
    const chain = createChainedPartitionedRateLimiter<Call>(api.users, capped);
    const elsewhere = { user: 'Anna', route: '/elsewhere' };
    const refused = [chain.attemptAcquire(elsewhere), await chain.acquire(elsewhere)];
    for (const lease of refused) {
      expect(lease.getMetadata(MetadataName.reasonPhrase)).toBe('Partition limit reached');
      expect(refusedMember(lease)).toBe(1);
    }
    expect(free(api.users, home)).toBe(2);
  });

  it('takes part as a translated limiter too', () => {
    const { users, routes } = new Api();
    const byName = users.withTranslatedKey((name: string) => ({ user: name, route: '/' }));
    const byRoute = routes.withTranslatedKey((name: string) => ({ user: name, route: '/' }));
    const chain = createChainedPartitionedRateLimiter(byRoute, byName);
    chain.attemptAcquire('Anna', 2);
    expect(chain.attemptAcquire('Anna').isAcquired).toBe(false);
    expect(free(routes, home)).toBe(1);
  });

  it('goes on with no member that has ended', async () => {
    const api = new Api();
    const chain = createChainedPartitionedRateLimiter<Call>(api.users, api.routes);
    api.users.dispose();
    expect(() => chain.attemptAcquire(home)).toThrow(ObjectDisposedError);
    await expect(chain.acquire(home)).rejects.toThrow(ObjectDisposedError);
    expect(api.partitionerCalls).toBe(0);
    expect(api.users.partitionCount).toBe(0);
  });

  it('ends its waiters with itself, and no member', async () => {
    const { users, routes } = new Api();
    const chain = createChainedPartitionedRateLimiter<Call>(users, routes);
    users.attemptAcquire(home, 1);
    const waiting = [chain.acquire(home, 2), chain.acquire(home, 2)];
    await settled();
    chain.dispose();
    for (const lease of await Promise.all(waiting)) {
      expect(lease.getMetadata(MetadataName.reasonPhrase)).toBe('Limiter disposed');
    }
    expect(() => chain.attemptAcquire(home)).toThrow(ObjectDisposedError);
    expect(users.attemptAcquire(home).isAcquired).toBe(true);
  });

  it('judges counts over all members, and misuse before any partitioner', () => {
    const api = new Api();
    const chain = createChainedPartitionedRateLimiter<Call>(api.routes, api.users);
    expect(() => chain.attemptAcquire(home, -1)).toThrow(RangeError);
    expect(api.partitionerCalls).toBe(0);
    expect(() => chain.attemptAcquire(home, 3)).toThrow(/limit of 2/);
  });

  it('has the statistics of the resource in all members', () => {
    const { users, routes } = new Api();
    const chain = createChainedPartitionedRateLimiter<Call>(users, routes);
    chain.attemptAcquire(home);
    expect(chain.getStatistics(home)).toMatchObject({ currentAvailablePermits: 1, totalSuccessfulLeases: 2 });
  });

  it('needs members, and only partitioned limiters', () => {
    expect(() => createChainedPartitionedRateLimiter()).toThrow(TypeError);
    expect(() => createChainedPartitionedRateLimiter(new Api().users, {} as never)).toThrow(/Member 1/);
  });
});

describe('a chain with a partitioned limiter of another maker', () => {
  class Foreign extends PartitionedRateLimiter<Call> {
    readonly #inner = new Api().users;
    readonly seen: Call[] = [];

    override getStatistics(): RateLimiterStatistics | null {
      return null;
    }

    protected override attemptAcquireCore(call: Call, permits: number): RateLimitLease {
      this.seen.push(call);
      return this.#inner.attemptAcquire(call, permits);
    }

    protected override acquireCore(call: Call, permits: number): Promise<RateLimitLease> {
      this.seen.push(call);
      return this.#inner.acquire(call, permits);
    }
  }

  it('asks one after the other, and gives back what a later one refuses', async () => {
    const { routes } = new Api();
    const foreign = new Foreign();
    const chain = createChainedPartitionedRateLimiter<Call>(routes, foreign);
    chain.attemptAcquire(home);
    (await chain.acquire(home)).dispose();
    expect(foreign.seen).toEqual([home, home]);
    chain.attemptAcquire(home);
    expect(chain.attemptAcquire(home).isAcquired).toBe(false);
    expect(free(routes, home)).toBe(1);
  });
});
