import type {
  AsyncRateLimiter,
  ConcurrencyLimiterOptions,
  RateLimitLease,
  RateLimitPartition as Partition,
} from '../index.js';
import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  DefaultPartitionedRateLimiter,
  FixedWindowRateLimiter,
  foreseeableIdle,
  getManagedLifetimeLimiter,
  partitionOf,
  RateLimiter,
  RateLimitPartition,
} from '../index.js';
import { FakeClock } from '../testing/index.js';
import { isEvictable, MANUAL, PREDICTABLE, traitsOf } from './table/kept-limiter.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A limiter of another maker, with what may go wrong in it. */
class Foreign extends RateLimiter {
  idle: number | null = 0;
  idleError: Error | null = null;
  endError: Error | null = null;
  readonly inner = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5 });

  override get idleDurationMs(): number | null {
    if (this.idleError !== null) throw this.idleError;
    return this.idle;
  }

  override getStatistics(): null {
    return null;
  }

  override dispose(): void {
    if (this.endError !== null) throw this.endError;
  }

  protected override attemptAcquireCore(permits: number): RateLimitLease {
    return this.inner.attemptAcquire(permits);
  }

  protected override acquireCore(permits: number, signal?: AbortSignal): Promise<RateLimitLease> {
    return this.inner.acquire(permits, { signal });
  }
}

/** A limiter that has to ask elsewhere. */
class Remote implements AsyncRateLimiter {
  idleDurationMs: number | null = 0;

  async acquire(): Promise<RateLimitLease> {
    return new ConcurrencyLimiter({ permitLimit: 1 }).attemptAcquire();
  }

  getStatistics(): null {
    return null;
  }

  async dispose(): Promise<void> {
    throw new Error('it is gone');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

class Sweep {
  readonly clock = new FakeClock();
  readonly errors: [message: string, key: unknown][] = [];

  limiter(
    create: (key: string) => AsyncRateLimiter,
    hasListener = true,
  ): DefaultPartitionedRateLimiter<string, string> {
    const onError = (error: unknown, key: unknown): void =>
      void this.errors.push([(error as Error).message, key]);
    return new DefaultPartitionedRateLimiter((key: string) => RateLimitPartition.get(key, create), {
      clock: this.clock,
      idleTimeoutMs: 1_000,
      onError: hasListener ? onError : undefined,
    });
  }
}

describe('what a table knows of a limiter', () => {
  const clock = new FakeClock();
  const traits = (limiter: AsyncRateLimiter): [isPredictable: boolean, isManual: boolean] => [
    (traitsOf(limiter) & PREDICTABLE) !== 0,
    (traitsOf(limiter) & MANUAL) !== 0,
  ];
  const window = { permitLimit: 1, windowMs: 100, clock };

  it('is whether the end of its idleness can be foreseen, and whether somebody has to replenish it', () => {
    class Own extends FixedWindowRateLimiter {}
    expect(traits(new FixedWindowRateLimiter(window))).toEqual([true, false]);
    expect(traits(new FixedWindowRateLimiter({ ...window, autoReplenishment: false }))).toEqual([true, true]);
    expect(traits(new Own(window))).toEqual([false, true]);
    expect(traits(new Foreign())).toEqual([false, true]);
    expect(traits(Object.assign(new Foreign(), { [foreseeableIdle]: true }))).toEqual([true, false]);
    expect(traits(Object.assign(new Foreign(), { [foreseeableIdle]: 'yes' }))).toEqual([false, true]);
    expect(traits(new Remote())).toEqual([false, false]);
    expect(traits(Object.assign(new Remote(), { [foreseeableIdle]: true }))).toEqual([true, false]);
  });

  it('is that it may go once it has been idle for longer than that', () => {
    const foreign = new Foreign();
    expect(
      [null, 0, 1_000, 1_000.5].map((idle) => isEvictable(Object.assign(foreign, { idle }), 1_000)),
    ).toEqual([false, false, false, true]);
    foreign.idle = null;
    expect(isEvictable(foreign, -1)).toBe(false);
  });
});

describe('a limiter in a partition that fails', () => {
  it('to say how idle it is, or to end, stands in nobody’s way, whoever listens', () => {
    for (const hasListener of [true, false]) {
      const sweep = new Sweep();
      const made: Foreign[] = [];
      const limiter = sweep.limiter(() => {
        made.push(new Foreign());
        return made.at(-1)!;
      }, hasListener);
      for (const key of ['mute', 'immortal', 'other']) limiter.attemptAcquire(key);
      const [mute, immortal, other] = made;
      mute!.idleError = new Error('who knows?');
      immortal!.endError = new Error('never');
      Object.assign(immortal!, { idle: 5_000 });
      Object.assign(other!, { idle: 5_000 });
      sweep.clock.advance(300);
      expect(limiter.partitionCount).toBe(1);
      expect(sweep.errors.filter(([message]) => message === 'never')).toEqual(
        hasListener ? [['never', 'immortal']] : [],
      );
      expect(sweep.errors.some(([, key]) => key === 'mute')).toBe(hasListener);
    }
  });

  it('to end in time is reported with its key', async () => {
    const sweep = new Sweep();
    const remote = new Remote();
    const limiter = sweep.limiter(() => remote);
    await limiter.acquire('a');
    remote.idleDurationMs = 5_000;
    sweep.clock.advance(300);
    await settled();
    expect(limiter.partitionCount).toBe(0);
    expect(sweep.errors).toEqual([['it is gone', 'a']]);
  });

  it('to refresh its options is told of with the others', () => {
    const limiter = createPartitionedRateLimiter((key: string): Partition<string> => {
      const inner = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 5 });
      return {
        partitionKey: key,
        factory: () => inner,
        refresh: () => {
          throw new Error(`no options for ${key}`);
        },
      };
    });
    for (const key of ['a', 'b', 'idle']) limiter.attemptAcquire(key);
    for (const key of ['a', 'b']) void limiter.acquire(key);
    expect(() => limiter.refreshOptions()).toThrow(
      expect.objectContaining({
        message: 'Several partitions failed to refresh their options.',
        errors: [new Error('no options for a'), new Error('no options for b')],
      }) as Error,
    );
  });
});

describe('a partition that can’t answer at once', () => {
  it('says so', () => {
    const limiter = new Sweep().limiter(() => new Remote());
    expect(() => limiter.attemptAcquire('a')).toThrow(
      expect.objectContaining({ code: 'ERR_RL_ASYNC_ONLY' }) as Error,
    );
  });
});

describe('those who wait in a partition that is an object', () => {
  it('have new options at once', async () => {
    const numbers: ConcurrencyLimiterOptions = { permitLimit: 1, queueLimit: 5, clock: new FakeClock() };
    let permitLimit = 1;
    const limiter = createPartitionedRateLimiter(
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ ...numbers, permitLimit })),
      { clock: new FakeClock() },
    );
    limiter.attemptAcquire('first');
    limiter.attemptAcquire('a');
    const waiting = limiter.acquire('a');
    permitLimit = 2;
    limiter.refreshOptions();
    expect((await waiting).isAcquired).toBe(true);
    expect(limiter.attemptAcquire('first').isAcquired).toBe(true);
  });
});

describe('a partition whose limiter keeps no statistics', () => {
  it('has new options at its next use: nobody knows whether somebody waits', async () => {
    let refreshed = 0;
    const limiter = createPartitionedRateLimiter((key: string): Partition<string> => ({
      partitionKey: key,
      factory: () => new Foreign(),
      refresh: () => refreshed++,
    }));
    await limiter.acquire('a');
    limiter.refreshOptions();
    expect(refreshed).toBe(0);
    limiter.attemptAcquire('a');
    expect(refreshed).toBe(1);
  });
});

describe('the end of a table', () => {
  it('is that of limiters with a managed lifetime, once each', async () => {
    let ends = 0;
    class Managed extends ConcurrencyLimiter {
      override dispose(): void {
        ends++;
        super.dispose();
      }
    }
    const errors: unknown[] = [];
    const limiter = createPartitionedRateLimiter(
      (key: string) =>
        getManagedLifetimeLimiter(
          key,
          () => new Managed({ permitLimit: 1 }),
          () => undefined,
        ),
      { onError: (error) => errors.push(error) },
    );
    for (const key of ['a', 'b']) limiter.attemptAcquire(key);
    expect(() => limiter.dispose()).not.toThrow();
    await settled();
    expect([ends, errors]).toEqual([2, []]);
  });
});

describe('the limiter of a row, beside one of another maker', () => {
  const rows = createPartitionedRateLimiter(
    (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 2, queueLimit: 5 })),
    { clock: new FakeClock() },
  );
  const chain = createChainedPartitionedRateLimiter(
    createPartitionedRateLimiter((key: string) => RateLimitPartition.get(key, () => new Foreign())),
    rows,
  );

  it('judges counts, and bounds waits', async () => {
    expect(() => chain.attemptAcquire('a', 3)).toThrow(RangeError);
    await expect(rows.acquire('a', 3)).rejects.toThrow(/limit of 2/);
    const held = rows.attemptAcquire('a', 2);
    const refused = await chain.acquire('a', 1, { maxWaitMs: 0 });
    expect(refused.getMetadata('REASON_PHRASE')).toBe('Wait limit reached');
    held.dispose();
  });

  it('tells what the row does', () => {
    const row = rows[partitionOf]('b') as RateLimiter;
    expect(row.idleDurationMs).toBe(0);
    rows.attemptAcquire('b');
    expect(row.idleDurationMs).toBeNull();
    expect(row.getStatistics()).toEqual(rows.getStatistics('b'));
  });
});
