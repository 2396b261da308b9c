import {
  ChainedPartitionedRateLimiter,
  ChainedRateLimiter,
  chainParticipants,
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  MetadataName,
  ObjectDisposedError,
  partitionOf,
  PartitionedRateLimiter,
  RateLimiter,
  RateLimitPartition,
  ReplenishingRateLimiter,
} from '../index.js';
import type { AsyncPartitionedRateLimiter, RateLimiterStatistics, RateLimitLease } from '../index.js';
import { FakeClock } from '../testing/index.js';
import { Server } from '../../conformance/joint/remote-limiters.js';

/** A limiter of another maker before one of ours. */
class Foreign extends RateLimiter {
  asked = 0;
  readonly inner = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5 });
  override readonly idleDurationMs = null;

  override getStatistics(): null {
    return null;
  }

  protected override attemptAcquireCore(permits: number): RateLimitLease {
    this.asked++;
    return this.inner.attemptAcquire(permits);
  }

  protected override acquireCore(permits: number, signal?: AbortSignal): Promise<RateLimitLease> {
    this.asked++;
    return this.inner.acquire(permits, { signal });
  }
}

class ForeignPartitioned extends PartitionedRateLimiter<string> {
  readonly limiter = new Foreign();

  override getStatistics(): RateLimiterStatistics | null {
    return null;
  }

  protected override attemptAcquireCore(_key: string, permits: number): RateLimitLease {
    return this.limiter.attemptAcquire(permits);
  }

  protected override acquireCore(
    _key: string,
    permits: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease> {
    return this.limiter.acquire(permits, { signal });
  }
}

function running(permitLimit: number): PartitionedRateLimiter<string> {
  return createPartitionedRateLimiter((key: string) =>
    RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit, queueLimit: 5 })),
  );
}

const free = (limiter: PartitionedRateLimiter<string>): number =>
  limiter.getStatistics('a')!.currentAvailablePermits;
const reasonOf = (lease: RateLimitLease): string | undefined => lease.getMetadata(MetadataName.reasonPhrase);
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('a chain with a limiter of another maker, within a chain', () => {
  it('is asked as one, and that limiter with it', async () => {
    const foreign = new Foreign();
    const inner = createChainedRateLimiter(new ConcurrencyLimiter({ permitLimit: 5 }), foreign);
    const outer = createChainedRateLimiter(new ConcurrencyLimiter({ permitLimit: 5 }), inner);
    outer.attemptAcquire().dispose();
    (await outer.acquire()).dispose();
    expect(foreign.asked).toBe(2);
    expect(inner[chainParticipants]()).toBeNull();
  });

  it('bounds the wait in it', async () => {
    const foreign = new Foreign();
    foreign.inner.attemptAcquire();
    const chain = createChainedRateLimiter(new ConcurrencyLimiter({ permitLimit: 5 }), foreign);
    expect(reasonOf(await chain.acquire(1, { maxWaitMs: 1 }))).toBe('Wait limit reached');
    expect(foreign.inner.getStatistics().currentQueuedCount).toBe(0);
  });

  it('says which member each entry of a quota belongs to', () => {
    const limiters = [5, 7].map((permitLimit) => new ConcurrencyLimiter({ permitLimit }));
    const quota = createChainedRateLimiter(limiters[0]!, new Foreign(), limiters[1]!)
      .attemptAcquire()
      .quota();
    expect(quota.map(({ limit, member }) => [limit, member])).toEqual([
      [5, 0],
      [1, 1],
      [7, 2],
    ]);
  });
});

describe('a subclass of a chain that decides by itself', () => {
  it('is asked for its decision by chains around it', () => {
    class Refusing extends ChainedRateLimiter {
      asked = 0;
      protected override attemptAcquireCore(permits: number): RateLimitLease {
        this.asked++;
        return super.attemptAcquireCore(permits);
      }
    }
    const own = new Refusing([new ConcurrencyLimiter({ permitLimit: 5 })]);
    createChainedRateLimiter(new ConcurrencyLimiter({ permitLimit: 5 }), own).attemptAcquire();
    expect(own.asked).toBe(1);
  });

  it('is so as well where it is partitioned', () => {
    class Counting extends ChainedPartitionedRateLimiter<string> {
      asked = 0;
      protected override attemptAcquireCore(key: string, permits: number): RateLimitLease {
        this.asked++;
        return super.attemptAcquireCore(key, permits);
      }
    }
    const own = new Counting([running(5)]);
    createChainedPartitionedRateLimiter(running(5), own).attemptAcquire('a');
    expect(own.asked).toBe(1);
  });
});

describe('a chain of partitioned limiters beside one of another maker', () => {
  function mixed() {
    const [first, second, foreign] = [running(2), running(1), new ForeignPartitioned()];
    const inner = createChainedPartitionedRateLimiter(first, second);
    return { first, second, inner, foreign, outer: createChainedPartitionedRateLimiter(foreign, inner) };
  }

  it('takes from its members all or nothing', async () => {
    const { first, second, outer } = mixed();
    const lease = outer.attemptAcquire('a');
    expect([lease.isAcquired, free(first), free(second)]).toEqual([true, 1, 0]);
    lease.dispose();
    const other = await outer.acquire('a');
    expect([other.isAcquired, free(first), free(second)]).toEqual([true, 1, 0]);
    other.dispose();
    second.attemptAcquire('a');
    expect(outer.attemptAcquire('a').isAcquired).toBe(false);
    expect([free(first), free(second)]).toEqual([2, 0]);
  });

  it('bounds the wait in it, by time and by a signal', async () => {
    const { second, outer } = mixed();
    second.attemptAcquire('a');
    expect(reasonOf(await outer.acquire('a', 1, { maxWaitMs: 0 }))).toBe('Wait limit reached');
    const abort = new AbortController();
    const waiting = outer.acquire('a', 1, { signal: abort.signal });
    await settled();
    expect(second.getStatistics('a')!.currentQueuedCount).toBe(1);
    abort.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    expect(second.getStatistics('a')!.currentQueuedCount).toBe(0);
  });

  it('is an error when it ends while another member is waited for', async () => {
    const { first, inner, foreign, outer } = mixed();
    const held = foreign.limiter.inner.attemptAcquire();
    const waiting = outer.acquire('a');
    await settled();
    inner.dispose();
    held.dispose();
    await expect(waiting).rejects.toThrow(ObjectDisposedError);
    expect(free(first)).toBe(2);
    expect(foreign.limiter.inner.getStatistics().currentAvailablePermits).toBe(1);
  });

  it('stands in a chain as a limiter that is never idle, with the statistics of its members', () => {
    const { first, inner } = mixed();
    first.attemptAcquire('a');
    const resolved = inner[partitionOf]('a') as RateLimiter;
    expect(resolved.idleDurationMs).toBeNull();
    expect(resolved.getStatistics()).toMatchObject({ currentAvailablePermits: 1, totalSuccessfulLeases: 1 });
  });

  it('counts as ended once a chain has that is the limiter of one of its partitions', async () => {
    const scarce = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5 });
    const chain = createChainedRateLimiter(scarce);
    const inner = createChainedPartitionedRateLimiter(
      running(5),
      createPartitionedRateLimiter((key: string) => RateLimitPartition.get(key, () => chain)),
    );
    const held = scarce.attemptAcquire();
    const waiting = createChainedPartitionedRateLimiter(running(5), inner).acquire('a');
    chain.dispose();
    held.dispose();
    expect(reasonOf(await waiting)).toBe('Limiter disposed');
  });

  it('counts as ended through a translated limiter', async () => {
    const scarce = running(1);
    const inner = createChainedPartitionedRateLimiter(scarce);
    const translated = inner.withTranslatedKey((key: string) => key);
    const held = scarce.attemptAcquire('a');
    const waiting = createChainedPartitionedRateLimiter(running(5), translated).acquire('a');
    inner.dispose();
    held.dispose();
    expect(reasonOf(await waiting)).toBe('Limiter disposed');
    expect(free(scarce)).toBe(1);
  });
});

describe('a chain with members that can’t answer at once', () => {
  it('can’t either', () => {
    const remote = new Server().partitioned('a');
    const alone: AsyncPartitionedRateLimiter<string> = {
      acquire: (key, permits, options) => remote.acquire(key, permits, options),
      getStatistics: () => null,
      dispose: () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    };
    for (const member of [remote, alone]) {
      const chain = createChainedPartitionedRateLimiter(running(1), member);
      expect(() => (chain as PartitionedRateLimiter<string>).attemptAcquire('a')).toThrow(
        expect.objectContaining({ code: 'ERR_RL_ASYNC_ONLY' }) as Error,
      );
    }
  });
});

describe('what a chain tells of members of other makers', () => {
  it('is the statistics of those that have some, and none where nobody has', () => {
    const chain = createChainedPartitionedRateLimiter(new ForeignPartitioned(), running(3));
    expect(chain.getStatistics('a')).toMatchObject({ currentAvailablePermits: 3 });
    expect(createChainedPartitionedRateLimiter(new ForeignPartitioned()).getStatistics('a')).toBeNull();
  });

  it('is the smallest period that there is', () => {
    class Immediate extends ReplenishingRateLimiter {
      override readonly idleDurationMs = null;
      override get isAutoReplenishing(): boolean {
        return true;
      }
      override get replenishmentPeriodMs(): number {
        return 0;
      }
      override getStatistics(): null {
        return null;
      }
      override tryReplenish(): boolean {
        throw new Error('never');
      }
      protected override attemptAcquireCore(): RateLimitLease {
        throw new Error('never');
      }
      protected override acquireCore(): Promise<RateLimitLease> {
        throw new Error('never');
      }
    }
    const window = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 500, clock: new FakeClock() });
    const chain = createChainedRateLimiter(window, new Immediate(), new Immediate());
    expect(chain.replenishmentPeriodMs).toBe(500);
    expect(() => chain.tryReplenish()).toThrow('Several members of a chain failed to replenish.');
  });

  it('is nothing to replenish once it has ended', () => {
    const clock = new FakeClock();
    const options = { permitLimit: 1, windowMs: 500, autoReplenishment: false, clock };
    const window = new FixedWindowRateLimiter(options);
    const chain = createChainedRateLimiter(window);
    clock.advance(500);
    chain.dispose();
    expect(chain.tryReplenish()).toBe(false);
    expect(window.tryReplenish()).toBe(true);
  });

  it('is refreshed where it has options', () => {
    let permitLimit = 1;
    const member = createPartitionedRateLimiter((key: string) =>
      RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit })),
    );
    const chain = new ChainedPartitionedRateLimiter<string>([member, new Server().partitioned('a')]);
    member.attemptAcquire('a');
    permitLimit = 2;
    chain.refreshOptions();
    expect(free(member)).toBe(1);
    const remoteOnly = { acquire: () => undefined } as unknown as AsyncPartitionedRateLimiter<string>;
    expect(() => new ChainedPartitionedRateLimiter<string>([remoteOnly]).refreshOptions()).not.toThrow();
  });
});
