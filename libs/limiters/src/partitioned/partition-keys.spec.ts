import { ConcurrencyLimiter, createPartitionedRateLimiter, RateLimitPartition } from '../index.js';
import type { DefaultPartitionedRateLimiter, PartitionedRateLimiterOptions } from '../index.js';
import { FakeClock } from '../testing/index.js';
import { ForeignLimiter } from '../../conformance/partitioned/foreign-keeper.js';

/** One permit for each key. */
function one<TKey>(
  options: PartitionedRateLimiterOptions<TKey> = {},
): DefaultPartitionedRateLimiter<TKey, TKey> {
  return createPartitionedRateLimiter(
    (key: TKey) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })),
    { clock: new FakeClock(), ...options },
  );
}

describe('keys', () => {
  it('are told apart as in a Map', () => {
    const keys: unknown[] = [
      '__proto__',
      'constructor',
      'toString',
      '',
      '0',
      0,
      '1',
      1,
      1n,
      true,
      'true',
      null,
      'null',
      undefined,
      'undefined',
      NaN,
      'NaN',
      Infinity,
      -Infinity,
      2 ** 53,
      0.5,
      Symbol('a'),
      Symbol('a'),
      {},
      {},
      [],
      () => 1,
      new Date(0),
      'x'.repeat(100_000),
      `${'x'.repeat(99_999)}y`,
      'a\u0000b',
      'a',
    ];
    const limiter = one<unknown>();
    for (const key of keys) expect(limiter.attemptAcquire(key).isAcquired).toBe(true);
    for (const key of keys) expect(limiter.attemptAcquire(key).isAcquired).toBe(false);
    expect(limiter.partitionCount).toBe(keys.length);
  });

  it('are equal as in a Map: NaN to NaN, -0 to 0', () => {
    const limiter = one<number>();
    limiter.attemptAcquire(NaN);
    expect(limiter.attemptAcquire(Number.NaN).isAcquired).toBe(false);
    limiter.attemptAcquire(0);
    expect(limiter.attemptAcquire(-0).isAcquired).toBe(false);
  });

  it('stay told apart when there are many, of all types', () => {
    const limiter = one<unknown>();
    const objects = Array.from({ length: 3_000 }, (_, index) => ({ index }));
    const keys = objects.flatMap((key, index) => [index, String(index), -index - 0.5, key]);
    const grants = (): number => keys.filter((key) => limiter.attemptAcquire(key).isAcquired).length;
    expect([grants(), grants()]).toEqual([12_000, 0]);
    expect(limiter.partitionCount).toBe(12_000);
    limiter.dispose();
  });

  it('that many clients share the end of are no slower: none is mistaken', () => {
    const limiter = one<string>();
    const key = (index: number): string => `${index}|${'/a/long/route'.repeat(4)}`;
    const keys = Array.from({ length: 10_000 }, (_, index) => key(index));
    const grants = (): number => keys.filter((one) => limiter.attemptAcquire(one).isAcquired).length;
    expect([grants(), grants()]).toEqual([10_000, 0]);
    expect(limiter.partitionCount).toBe(10_000);
  });

  it('leave all of them, and come again', () => {
    const clock = new FakeClock();
    const limiter = one<number>({ clock, idleTimeoutMs: 100 });
    for (let round = 0; round < 3; round++) {
      for (let key = 0; key < 6_000; key++) limiter.attemptAcquire(key).dispose();
      expect(limiter.partitionCount).toBe(6_000);
      clock.advance(500);
      expect(limiter.partitionCount).toBe(0);
      expect(clock.pendingTimers).toBe(0);
    }
  });
});

describe('keyIdentity', () => {
  it('says what keys are compared by', () => {
    const limiter = one<{ id: string }>({ keyIdentity: ({ id }) => id.toLowerCase() });
    limiter.attemptAcquire({ id: 'Anna' });
    expect(limiter.attemptAcquire({ id: 'ANNA' }).isAcquired).toBe(false);
    expect(limiter.attemptAcquire({ id: 'Bert' }).isAcquired).toBe(true);
    expect(limiter.partitionCount).toBe(2);
  });

  it('names the partition in each error that nobody awaits', () => {
    const told: [message: string, key: unknown][] = [];
    const clock = new FakeClock();
    const foreign = new ForeignLimiter();
    const limiter = createPartitionedRateLimiter(
      (partitionKey: string) => ({
        partitionKey,
        factory: () => foreign,
        refresh: () => {
          throw new Error('refresh failed');
        },
      }),
      {
        clock,
        keyIdentity: (key) => key.toLowerCase(),
        onError: (error, key) => told.push([(error as Error).message, key]),
      },
    );
    foreign.failing = 'tryReplenish';
    limiter.attemptAcquire('Ann');
    limiter.refreshOptions();
    limiter.attemptAcquire('ANN');
    for (const failing of ['idleDurationMs', 'dispose'] as const) {
      Object.assign(foreign, { failing, idleMs: 20_000 });
      clock.advance(300);
    }
    const messages = ['tryReplenish failed', 'refresh failed', 'idleDurationMs failed', 'dispose failed'];
    expect(new Set(told.map(String))).toEqual(new Set(messages.map((message) => `${message},ann`)));
  });

  it('that throws leaves nothing behind', () => {
    const limiter = one<string>({
      keyIdentity: () => {
        throw new Error('no identity');
      },
    });
    expect(() => limiter.attemptAcquire('a')).toThrow('no identity');
    expect(limiter.partitionCount).toBe(0);
  });
});

describe('a partitioner', () => {
  it('is called once per request, and the factory once per key', async () => {
    const calls = { partitioner: 0, factory: 0 };
    const limiter = createPartitionedRateLimiter(
      (key: string) => {
        calls.partitioner++;
        return RateLimitPartition.getConcurrencyLimiter(key, () => {
          calls.factory++;
          return { permitLimit: 10 };
        });
      },
      { clock: new FakeClock() },
    );
    limiter.attemptAcquire('a');
    await limiter.acquire('a');
    limiter.getStatistics('a');
    expect(calls).toEqual({ partitioner: 3, factory: 1 });
  });

  it('isn’t called for misuse, after the end, or for an aborted signal', async () => {
    let calls = 0;
    const limiter = createPartitionedRateLimiter((key: string) => {
      calls++;
      return RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 10 }));
    });
    expect(() => limiter.attemptAcquire('a', -1)).toThrow(RangeError);
    await expect(limiter.acquire('a', NaN)).rejects.toThrow(RangeError);
    await expect(
      limiter.acquire('a', 1, { signal: AbortSignal.abort(new Error('aborted')) }),
    ).rejects.toThrow('aborted');
    limiter.dispose();
    expect(() => limiter.attemptAcquire('a')).toThrow(/disposed/);
    expect(calls).toBe(0);
  });

  it('that throws, or a factory that does, concerns that call alone', async () => {
    let isBroken = true;
    const limiter = createPartitionedRateLimiter(
      (key: string) => {
        if (key === 'nobody') throw new Error('who is that?');
        return RateLimitPartition.getConcurrencyLimiter(key, () => {
          if (isBroken) throw new Error('no plan');
          return { permitLimit: 1 };
        });
      },
      { clock: new FakeClock() },
    );
    expect(() => limiter.attemptAcquire('nobody')).toThrow('who is that?');
    await expect(limiter.acquire('nobody')).rejects.toThrow('who is that?');
    expect(() => limiter.attemptAcquire('a')).toThrow('no plan');
    await expect(limiter.acquire('a')).rejects.toThrow('no plan');
    isBroken = false;
    expect(limiter.attemptAcquire('a').isAcquired).toBe(true);
  });

  it.each([undefined, null, 'a', {}, { partitionKey: 'a' }])(
    'has to return a partition, not %p',
    (answer) => {
      const limiter = createPartitionedRateLimiter(() => answer as never);
      expect(() => limiter.attemptAcquire('a')).toThrow(/must return a partition/);
    },
  );

  it.each([undefined, null, {}, 'limiter'])('needs factories that return a limiter, not %p', (made) => {
    const limiter = createPartitionedRateLimiter((key: string) =>
      RateLimitPartition.get(key, () => made as never),
    );
    expect(() => limiter.attemptAcquire('a')).toThrow(/must return a limiter/);
    expect(limiter.partitionCount).toBe(0);
  });

  it('may give each key numbers of its own, and change its mind for new keys', () => {
    const limiter = createPartitionedRateLimiter(
      (key: number) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: key })),
      { clock: new FakeClock() },
    );
    for (let key = 1; key <= 200; key++) {
      expect(limiter.attemptAcquire(key, key).isAcquired).toBe(true);
      expect(limiter.attemptAcquire(key).isAcquired).toBe(false);
      expect(() => limiter.attemptAcquire(key, key + 1)).toThrow(RangeError);
    }
  });

  it('may mix kinds of limiters, and those of others, among its keys', () => {
    const clock = new FakeClock();
    const rate = { permitLimit: 2, windowMs: 1_000 };
    const kinds = [
      (key: string) => RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 2 })),
      (key: string) => RateLimitPartition.getFixedWindowLimiter(key, () => rate),
      (key: string) =>
        RateLimitPartition.getSlidingWindowLimiter(key, () => ({ ...rate, segmentsPerWindow: 7 })),
      (key: string) =>
        RateLimitPartition.getSlidingWindowLimiter(key, () => ({ ...rate, segmentsPerWindow: 2 })),
      (key: string) =>
        RateLimitPartition.getTokenBucketLimiter(key, () => ({
          tokenLimit: 2,
          tokensPerPeriod: 1,
          replenishmentPeriodMs: 1_000,
        })),
      (key: string) => RateLimitPartition.get(key, () => new ConcurrencyLimiter({ permitLimit: 2 })),
    ];
    const limiter = createPartitionedRateLimiter((key: string) => kinds[Number(key) % kinds.length]!(key), {
      clock,
    });
    for (let key = 0; key < 60; key++) expect(limiter.attemptAcquire(String(key), 2).isAcquired).toBe(true);
    for (let key = 0; key < 60; key++) expect(limiter.attemptAcquire(String(key)).isAcquired).toBe(false);
    clock.advance(1_000);
    const again = Array.from({ length: 6 }, (_, key) => limiter.attemptAcquire(String(key)).isAcquired);
    expect(again).toEqual([false, true, true, true, true, false]);
  });
});
