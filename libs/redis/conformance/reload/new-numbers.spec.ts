import type { AsyncPartitionedRateLimiter, AsyncRateLimiter, RateLimitLease } from '@ratelease/limiters';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
} from '@ratelease/limiters';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const server = TestServer.forThisFile();
const HOUR_MS = 3_600_000;

let shared: RedisPartitions;
let key = 0;
beforeEach(() => {
  key++;
  shared = createRedisPartitions({ client: server.client, commandTimeoutMs: 10_000 });
});
afterEach(() => shared.dispose());

const remaining = (lease: RateLimitLease): number => lease.quota()[0]!.remaining;
const reasonOf = (lease: RateLimitLease): unknown => lease.getMetadata('REASON_PHRASE');

/** Rates of which the hour is never over here. */
const RATES = {
  'fixed window': (permitLimit: number, more: object) =>
    shared.getFixedWindowLimiter(key, () => ({ permitLimit, windowMs: HOUR_MS, name: 'own', ...more })),
  'sliding window': (permitLimit: number, more: object) =>
    shared.getSlidingWindowLimiter(key, () => ({
      ...{ permitLimit, windowMs: HOUR_MS, segmentsPerWindow: 2, name: 'own', ...more },
    })),
  'greedy bucket': (tokenLimit: number, more: object) =>
    shared.getTokenBucketLimiter(key, () => ({
      ...{ tokenLimit, tokensPerPeriod: 1, replenishmentPeriodMs: HOUR_MS, name: 'own', ...more },
    })),
  'bucket of lumps': (tokenLimit: number, more: object) =>
    shared.getTokenBucketLimiter(key, () => ({
      ...{ tokenLimit, tokensPerPeriod: 1, replenishmentPeriodMs: HOUR_MS, name: 'own', ...more },
      refill: 'interval' as const,
    })),
};

/** A limiter with numbers that can be changed. */
class Changing {
  readonly limiter: AsyncPartitionedRateLimiter<string>;
  #make: () => ReturnType<(typeof RATES)['fixed window']>;

  constructor(make: () => ReturnType<(typeof RATES)['fixed window']>) {
    this.#make = make;
    this.limiter = createPartitionedRateLimiter(() => this.#make());
  }

  change(make: () => ReturnType<(typeof RATES)['fixed window']>): void {
    this.#make = make;
    this.limiter.refreshOptions!();
  }

  acquire(permits = 1, options = {}): Promise<RateLimitLease> {
    return this.limiter.acquire('', permits, options);
  }

  /** Asks for no permits, which tells how it stands, and brings new numbers. */
  look(): Promise<RateLimitLease> {
    return this.limiter.acquire('', 0, { maxWaitMs: 0 });
  }

  /** Resolves when so many permits are waited for, here and on the server. */
  async waited(permits: number): Promise<void> {
    while (this.limiter.getStatistics('')!.currentQueuedCount !== permits)
      // oxlint-disable-next-line no-await-in-loop -- until it is so
      await new Promise((resolve) => setImmediate(resolve));
    // An answer later than theirs.
    await this.look();
  }
}

describe.each(Object.entries(RATES))('a %s in constant use', (_kind, make) => {
  test('has its new limit at its next use, and what is spent stays spent', async () => {
    const changing = new Changing(() => make(5, {}));
    await changing.acquire(3);
    changing.change(() => make(10, {}));
    expect(changing.limiter.getStatistics('')!.currentAvailablePermits).toBe(7);
    expect((await changing.acquire(6)).isAcquired).toBe(true);
    expect(changing.limiter.getStatistics('')!.currentAvailablePermits).toBe(1);
    changing.change(() => make(4, {}));
    expect((await changing.acquire(1)).isAcquired).toBe(false);
    await expect(changing.acquire(5)).rejects.toThrow(RangeError);
  });

  test('serves who waits for it at once where the limit is higher', async () => {
    const changing = new Changing(() => make(3, { queueLimit: 10 }));
    await changing.acquire(3);
    const waiting = [changing.acquire(3), changing.acquire(2)];
    await changing.waited(5);
    changing.change(() => make(8, { queueLimit: 10 }));
    await changing.look();
    expect((await Promise.all(waiting)).map(({ isAcquired }) => isAcquired)).toEqual([true, true]);
    expect(remaining(await changing.look())).toBe(0);
  });

  test('refuses who waits for more than its new limit, and serves those behind him', async () => {
    const changing = new Changing(() => make(5, { queueLimit: 10 }));
    await changing.acquire(2);
    const tooMuch = changing.acquire(5);
    const behind = changing.acquire(1);
    await changing.waited(6);
    changing.change(() => make(3, { queueLimit: 10 }));
    await changing.look();
    expect(reasonOf(await tooMuch)).toBe('Limit lowered');
    expect((await behind).isAcquired).toBe(true);
  });
});

test('what is reserved ahead is given back before new numbers count', async () => {
  const make = (permitLimit: number) => RATES['fixed window'](permitLimit, { reserveAhead: 5 });
  const changing = new Changing(() => make(20));
  await changing.acquire(1);
  await changing.acquire(1);
  changing.change(() => RATES['fixed window'](20, {}));
  let left = 0;
  // It is on its way when the first look is answered.
  for (let looks = 0; looks < 1_000 && left < 18; looks++)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    left = remaining(await changing.look());
  expect(left).toBe(18);
});

test('without a name of its own other numbers make another limiter, which begins anew', async () => {
  const make = (permitLimit: number) => RATES['fixed window'](permitLimit, { name: undefined });
  const changing = new Changing(() => make(5));
  await changing.acquire(3);
  changing.change(() => make(6));
  expect(remaining(await changing.acquire(1))).toBe(5);
});

test('a key in use goes on in the process, or in the store, where its limiter was made', async () => {
  let isShared = false;
  const inProcess = (): RateLimitPartition<number> =>
    RateLimitPartition.getFixedWindowLimiter(key, () => ({ permitLimit: 2, windowMs: HOUR_MS }));
  for (const [first, second] of [
    [false, true],
    [true, false],
  ] as const) {
    isShared = first;
    const limiter = createPartitionedRateLimiter((): RateLimitPartition<number, AsyncRateLimiter> =>
      isShared ? RATES['fixed window'](2, {}) : inProcess(),
    );
    // oxlint-disable-next-line no-await-in-loop -- one way, then the other
    await limiter.acquire('', 2);
    isShared = second;
    limiter.refreshOptions!();
    // oxlint-disable-next-line no-await-in-loop
    expect((await limiter.acquire('')).isAcquired).toBe(false);
  }
});

test('a sliding window of other segments gives back what it has granted, however often it refuses meanwhile', async () => {
  const changing = new Changing(() => RATES['sliding window'](3, { windowMs: 60 }));
  await changing.acquire(3);
  changing.change(() => RATES['sliding window'](2, { windowMs: 200, queueLimit: 10 }));
  const asking = setInterval(() => void changing.look(), 20);
  expect((await changing.acquire(2, { maxWaitMs: 20_000 })).isAcquired).toBe(true);
  clearInterval(asking);
});

test('a chain asks all its members with their new numbers in one call', async () => {
  const one = new Changing(() => RATES['fixed window'](5, { name: 'one' }));
  const two = new Changing(() => RATES['sliding window'](5, { name: 'two' }));
  const chain = createChainedPartitionedRateLimiter(one.limiter, two.limiter);
  await chain.acquire('', 4);
  two.change(() => RATES['sliding window'](9, { name: 'two' }));
  one.change(() => RATES['fixed window'](7, { name: 'one' }));
  let lease: RateLimitLease | undefined;
  expect(await server.callsOf(async () => (lease = await chain.acquire('', 2)))).toBe(1);
  expect(lease!.quota().map(({ limit, remaining: left }) => [limit, left])).toEqual([
    [7, 1],
    [9, 3],
  ]);
});

describe('what runs at once', () => {
  const concurrency = (permitLimit: number, more: object = {}) =>
    shared.getConcurrencyLimiter(key, () => ({ permitLimit, queueLimit: 10, name: 'own', ...more }));
  const giveBack = (lease: RateLimitLease): Promise<void> => (lease as RemoteLease)[Symbol.asyncDispose]();

  test('is more at once where the limit is higher: who waits begins', async () => {
    const changing = new Changing(() => concurrency(2));
    await changing.acquire(2);
    const waiting = changing.acquire(2);
    const behind = changing.acquire(1);
    await changing.waited(3);
    changing.change(() => concurrency(5));
    await changing.look();
    expect((await waiting).isAcquired).toBe(true);
    expect((await behind).isAcquired).toBe(true);
  });

  test('is less as leases end where the limit is lower: they hand nothing over until then', async () => {
    const changing = new Changing(() => concurrency(2));
    const leases = [await changing.acquire(), await changing.acquire()];
    const next = changing.acquire();
    await changing.waited(1);
    changing.change(() => concurrency(1));
    await changing.look();
    await giveBack(leases[0]!);
    expect((await changing.acquire(1, { maxWaitMs: 0 })).isAcquired).toBe(false);
    expect(changing.limiter.getStatistics('')!.currentQueuedCount).toBe(1);
    await giveBack(leases[1]!);
    expect((await next).isAcquired).toBe(true);
  });

  test('refuses who waits for more than there will ever be, and serves those behind him', async () => {
    const changing = new Changing(() => concurrency(3));
    const lease = await changing.acquire();
    const tooMuch = changing.acquire(3);
    const behind = changing.acquire(1);
    await changing.waited(4);
    changing.change(() => concurrency(2));
    await changing.look();
    expect(reasonOf(await tooMuch)).toBe('Limit lowered');
    expect((await behind).isAcquired).toBe(true);
    await giveBack(lease);
    expect(changing.limiter.getStatistics('')!.currentQueuedCount).toBe(0);
  });

  test('keeps its leases where they live for less from now on', async () => {
    const changing = new Changing(() => concurrency(1, { leaseTtlMs: 60_000 }));
    const lease = (await changing.acquire()) as RemoteLease;
    changing.change(() => concurrency(2, { leaseTtlMs: 3_000 }));
    const other = (await changing.acquire()) as RemoteLease;
    await new Promise((resolve) => setTimeout(resolve, 4_500));
    expect([lease.signal.aborted, other.signal.aborted]).toEqual([false, false]);
    expect((await changing.acquire(1, { maxWaitMs: 0 })).isAcquired).toBe(false);
  });

  test('waits for more than another limiter of its name has, without asking again and again', async () => {
    const wide = new Changing(() => concurrency(5));
    const narrow = new Changing(() => concurrency(3));
    const leases = [await wide.acquire(2), await narrow.acquire(1)];
    let waiting: Promise<RateLimitLease>;
    const calls = await server.callsOf(async () => {
      waiting = wide.acquire(4);
      await wide.waited(4);
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
    expect(calls).toBeLessThan(4);
    for (const lease of leases) await giveBack(lease);
    expect((await waiting!).isAcquired).toBe(true);
  });

  test('goes on as another limiter where the numbers are its name: who waits asks that one', async () => {
    const changing = new Changing(() => concurrency(1, { name: undefined }));
    await changing.acquire();
    const waiting = [changing.acquire(), changing.acquire()];
    await changing.waited(2);
    changing.change(() => concurrency(2, { name: undefined }));
    await changing.look();
    expect((await Promise.all(waiting)).map(({ isAcquired }) => isAcquired)).toEqual([true, true]);
  });
});
