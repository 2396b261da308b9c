import type { AsyncRateLimiter } from '@ratelease/limiters';
import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  TokenBucketRateLimiter,
} from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import { Redis } from 'ioredis';
import { buildRedisPartitions } from '../../src/create-redis-partitions.js';
import type { RedisPartitions } from '../../src/index.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const START_US = 1_783_228_800_123_456;
const PERIOD_MS = 10_000;
const LIMIT = 4;

let server: RedisServer;
let client: Redis;
let shared: RedisPartitions;
let clock: FakeClock;
let keys = 0;
beforeAll(async () => {
  server = await RedisServer.start();
  client = new Redis(server.port, '127.0.0.1');
});
beforeEach(() => {
  clock = new FakeClock();
  keys++;
  const now = (): number => START_US + clock.now() * 1_000;
  shared = buildRedisPartitions({ client, commandTimeoutMs: 30_000 }, now);
});
afterEach(() => shared.dispose());
afterAll(async () => {
  client.disconnect();
  await server.stop();
});

interface QueueOptions {
  readonly queueLimit: number;
  readonly queueProcessingOrder: 'oldestFirst' | 'newestFirst';
}

/** A limiter in process and the same one on the server. */
const PAIRS: Record<string, (queue: QueueOptions) => [AsyncRateLimiter, AsyncRateLimiter]> = {
  'a concurrency limiter': (queue) => {
    const options = { permitLimit: LIMIT, ...queue, clock };
    return [
      new ConcurrencyLimiter(options),
      limiterOf(shared.getConcurrencyLimiter(`key-${keys}`, () => options)),
    ];
  },
  'a fixed window': (queue) => {
    const options = { permitLimit: LIMIT, windowMs: PERIOD_MS, ...queue, clock };
    return [
      new FixedWindowRateLimiter(options),
      limiterOf(shared.getFixedWindowLimiter(`key-${keys}`, () => options)),
    ];
  },
  'a token bucket': (queue) => {
    const times = { tokensPerPeriod: LIMIT, replenishmentPeriodMs: PERIOD_MS };
    const options = { tokenLimit: LIMIT, ...times, ...queue, clock };
    return [
      new TokenBucketRateLimiter(options),
      limiterOf(shared.getTokenBucketLimiter(`key-${keys}`, () => options)),
    ];
  },
};

/** What is refused to a request that waits no longer than that, beside so many permits that wait. */
async function refusedBy(
  limiter: AsyncRateLimiter,
  { queued, permits, maxWaitMs }: { queued: number; permits: number; maxWaitMs: number },
): Promise<object> {
  await limiter.acquire(LIMIT);
  const waiters = queued === 0 ? [] : [limiter.acquire(queued).catch(() => undefined)];
  const lease = await limiter.acquire(permits, { maxWaitMs });
  expect(lease.isAcquired).toBe(false);
  await limiter.dispose();
  await Promise.all(waiters);
  return { reason: lease.getMetadata('REASON_PHRASE'), retryAfterMs: lease.getMetadata('RETRY_AFTER') };
}

const QUEUE_LIMIT = 2;
const orders = ['oldestFirst', 'newestFirst'] as const;
describe.each(Object.keys(PAIRS))('%s refuses who does not want to wait as in process', (name) => {
  const cases = orders.flatMap((order) =>
    [0, 1, 2].flatMap((queued) => [0, 1, 2, 3].map((permits) => [order, queued, permits] as const)),
  );
  test.each(cases)('%s, with %d in the queue, for %d', async (queueProcessingOrder, queued, permits) => {
    const [inProcess, remote] = PAIRS[name]!({ queueLimit: QUEUE_LIMIT, queueProcessingOrder });
    const request = { queued, permits, maxWaitMs: 0 };
    expect(await refusedBy(remote, request)).toEqual(await refusedBy(inProcess, request));
  });

  test('and who finds no room, however long it would wait', async () => {
    const queue = { queueLimit: QUEUE_LIMIT, queueProcessingOrder: 'oldestFirst' } as const;
    const [inProcess, remote] = PAIRS[name]!(queue);
    const request = { queued: QUEUE_LIMIT, permits: 1, maxWaitMs: 1 };
    expect(await refusedBy(remote, request)).toEqual(await refusedBy(inProcess, request));
  });
});

test('who asks for more than the queue has room for is refused at once, and takes nothing of the other limiters', async () => {
  const chain = createChainedPartitionedRateLimiter(
    createPartitionedRateLimiter((key: string) =>
      shared.getTokenBucketLimiter(key, () => ({
        ...{ tokenLimit: LIMIT, tokensPerPeriod: LIMIT, replenishmentPeriodMs: PERIOD_MS, queueLimit: 1 },
      })),
    ),
    createPartitionedRateLimiter((key: string) =>
      shared.getConcurrencyLimiter(key, () => ({ permitLimit: 2 * LIMIT })),
    ),
  );
  const key = `key-${keys}`;
  const first = await chain.acquire(key, LIMIT);
  expect(first.isAcquired).toBe(true);
  // Whatever is asked after that finds a full bucket.
  const refused = chain.acquire(key, LIMIT);
  await Promise.resolve();
  process.nextTick(() => process.nextTick(() => clock.advance(PERIOD_MS)));
  expect((await refused).isAcquired).toBe(false);
  first.dispose();
  await chain.dispose();
  await shared.dispose();
  expect(await client.keys(`*{${key}}:*leases`)).toEqual([]);
});
