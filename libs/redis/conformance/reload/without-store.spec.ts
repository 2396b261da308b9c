import type { RateLimitLease } from '@ratelease/limiters';
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
});

it('waits by the clock that its partitioned limiter has', async () => {
  const clock = new FakeClock();
  const limiter = createPartitionedRateLimiter(() => LIMITERS['fixed window'](2), { clock });
  expect((await limiter.acquire('')).isAcquired).toBe(true);
  const waiting = limiter.acquire('');
  while (clock.pendingTimers === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(WINDOW_MS);
  expect((await waiting).isAcquired).toBe(true);
});
