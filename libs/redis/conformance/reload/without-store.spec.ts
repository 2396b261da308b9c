import { setImmediate as immediately } from 'node:timers/promises';
import type { AsyncPartitionedRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { createPartitionedRateLimiter } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import { Redis } from 'ioredis';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';

const WINDOW_MS = 60_000;

let client: Redis;
let shared: RedisPartitions;
beforeEach(() => {
  // Nobody listens there.
  client = new Redis({ host: '127.0.0.1', port: 1, lazyConnect: true });
  client.on('error', () => undefined);
  shared = createRedisPartitions({ client, commandTimeoutMs: 20, whenUnavailable: 'local', instances: 2 });
});
afterEach(async () => {
  await shared.dispose();
  client.disconnect();
});

/** Limiters with a number that can be changed, as they stand in for the store. */
const LIMITERS = {
  'fixed window': (permitLimit: number) =>
    shared.getFixedWindowLimiter('k', () => ({
      ...{ permitLimit, windowMs: WINDOW_MS, name: 'own', queueLimit: 10 },
    })),
  'sliding window': (permitLimit: number) =>
    shared.getSlidingWindowLimiter('k', () => ({
      ...{ permitLimit, windowMs: WINDOW_MS, segmentsPerWindow: 2, name: 'own', queueLimit: 10 },
    })),
  'token bucket': (tokenLimit: number) =>
    shared.getTokenBucketLimiter('k', () => ({
      ...{ tokenLimit, tokensPerPeriod: 1, replenishmentPeriodMs: WINDOW_MS, name: 'own', queueLimit: 10 },
    })),
  'concurrency limiter': (permitLimit: number) =>
    shared.getConcurrencyLimiter('k', () => ({ permitLimit, name: 'own', queueLimit: 10 })),
};

const remaining = (lease: RateLimitLease): number => lease.quota()[0]!.remaining;

describe.each(Object.entries(LIMITERS))('a %s that stands in for the store', (_kind, make) => {
  it('has its new numbers at its next use, and what is spent stays spent', async () => {
    let limit = 10;
    const limiter = createPartitionedRateLimiter(() => make(limit));
    expect(remaining(await limiter.acquire('', 3))).toBe(2);
    limit = 20;
    limiter.refreshOptions!();
    expect(remaining(await limiter.acquire('', 1))).toBe(6);
    limit = 8;
    limiter.refreshOptions!();
    expect((await limiter.acquire('', 1, { maxWaitMs: 0 })).isAcquired).toBe(false);
  });

  it('has them also where somebody waits in it, who is served by them', async () => {
    let limit = 4;
    const limiter = createPartitionedRateLimiter(() => make(limit));
    expect((await limiter.acquire('', 2)).isAcquired).toBe(true);
    const waiting = limiter.acquire('', 1);
    await untilWaiting(limiter, '');
    limit = 10;
    limiter.refreshOptions!();
    expect((await limiter.acquire('', 1, { maxWaitMs: 0 })).isAcquired).toBe(true);
    expect((await waiting).isAcquired).toBe(true);
    expect(remaining(await limiter.acquire('', 0))).toBe(1);
  });

  it('goes by the later one of two of its name, also where the earlier one asks again', async () => {
    const [earlier, later] = [8, 4].map((limit) => createPartitionedRateLimiter(() => make(limit)));
    expect(remaining(await earlier!.acquire('', 1))).toBe(3);
    expect(remaining(await later!.acquire('', 1))).toBe(0);
    expect((await earlier!.acquire('', 1, { maxWaitMs: 0 })).isAcquired).toBe(false);
    // More than there is of it by now, which no limit of the asking one says.
    const reason = (await earlier!.acquire('', 4)).getMetadata('REASON_PHRASE');
    expect(reason).toBe('STORE_UNAVAILABLE');
  });
});

/** Resolves once somebody waits for a permit of a key. */
async function untilWaiting(limiter: AsyncPartitionedRateLimiter<string>, key: string): Promise<void> {
  while (limiter.getStatistics(key)?.currentQueuedCount !== 1) await immediately();
  // Asked after it, and answered in order: it has come to the limiter that stands in.
  await limiter.acquire(key, 0, { maxWaitMs: 0 });
}

it('costs the same for each key that has new numbers, however many others are in use and waited for', async () => {
  const reads = new Map<number, number>();
  for (const keys of [2, 20]) {
    let permitLimit = 2;
    let read = 0;
    const limiter = createPartitionedRateLimiter((key: string) =>
      shared.getFixedWindowLimiter(`${keys} ${key}`, () => ({
        ...{ windowMs: WINDOW_MS, name: 'own', queueLimit: 1 },
        get permitLimit() {
          read++;
          return permitLimit;
        },
      })),
    );
    const names = Array.from({ length: keys }, (_, key) => String(key));
    for (const key of names) {
      expect((await limiter.acquire(key)).isAcquired).toBe(true);
      void limiter.acquire(key);
      await untilWaiting(limiter, key);
    }
    read = 0;
    permitLimit = 6;
    limiter.refreshOptions!();
    for (const key of names) expect((await limiter.acquire(key)).isAcquired).toBe(true);
    reads.set(keys, read / keys);
  }
  expect(reads.get(20)).toBe(reads.get(2));
});

it('waits by the clock that its partitioned limiter has', async () => {
  const clock = new FakeClock();
  const limiter = createPartitionedRateLimiter(() => LIMITERS['fixed window'](2), { clock });
  expect((await limiter.acquire('')).isAcquired).toBe(true);
  const waiting = limiter.acquire('');
  while (clock.pendingTimers === 0) await immediately();
  clock.advance(WINDOW_MS);
  expect((await waiting).isAcquired).toBe(true);
});
