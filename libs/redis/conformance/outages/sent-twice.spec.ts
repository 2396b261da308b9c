import { undoLease } from '@ratelease/limiters';
import { Redis } from 'ioredis';
import type { RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';

const ROUNDS = 25;
/** For what is to be answered, whatever the machine does beside it. */
const PATIENCE_MS = 20_000;
/** For what has no answer: long enough for what is answered before. */
const TIMEOUT_MS = 1_000;

let server: RedisServer;
let proxy: CuttingProxy;
let client: Redis;
beforeAll(async () => {
  server = await RedisServer.start();
  proxy = await CuttingProxy.start(server.port);
  // Reconnects at once, and by default sends again what was not answered.
  client = new Redis(proxy.port, '127.0.0.1', { retryStrategy: () => 1 });
  client.on('error', () => undefined);
});
afterAll(async () => {
  client.disconnect();
  proxy.stop();
  await server.stop();
});

const day = { windowMs: 86_400_000 };
const SETUPS = {
  fixedWindow: (shared: Shared, key: string) =>
    shared.getFixedWindowLimiter(key, () => ({ permitLimit: 1_000, ...day })),
  slidingWindow: (shared: Shared, key: string) =>
    shared.getSlidingWindowLimiter(key, () => ({ permitLimit: 1_000, ...day, segmentsPerWindow: 4 })),
  tokenBucket: (shared: Shared, key: string) =>
    shared.getTokenBucketLimiter(key, () => ({
      tokenLimit: 1_000,
      tokensPerPeriod: 1,
      replenishmentPeriodMs: 8_640_000,
    })),
  concurrency: (shared: Shared, key: string) =>
    shared.getConcurrencyLimiter(key, () => ({ permitLimit: 1_000 })),
};
type Shared = ReturnType<typeof createRedisPartitions>;

test.each(Object.entries(SETUPS))(
  'a command that the client sends again charges a %s once',
  async (name, make) => {
    const shared = createRedisPartitions({ client, commandTimeoutMs: PATIENCE_MS });
    const limiter = limiterOf(make(shared, name));
    const before = proxy.swallowed;
    for (let round = 0; round < ROUNDS; round++) {
      proxy.swallowNext();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const leases = await Promise.all([limiter.acquire(2), limiter.acquire(3)]);
      expect(leases.map((lease) => lease.isAcquired)).toEqual([true, true]);
    }
    expect(proxy.swallowed - before).toBe(ROUNDS);
    const last = await limiter.acquire(1);
    expect(last.quota()[0]!.remaining).toBe(1_000 - 5 * ROUNDS - 1);
    await shared.dispose();
  },
);

test('what was granted to a request that is no longer waited for is given back', async () => {
  const shared = createRedisPartitions({ client, commandTimeoutMs: TIMEOUT_MS });
  const limiter = limiterOf(SETUPS.fixedWindow(shared, 'late'));
  await limiter.acquire(1);
  server.pause();
  const lost = await limiter.acquire(10);
  expect(lost.getMetadata('REASON_PHRASE')).toBe('STORE_UNAVAILABLE');
  server.resume();
  await available(shared);
  const next = await limiter.acquire(1);
  expect(next.quota()[0]!.remaining).toBe(998);
  await shared.dispose();
});

test('what was granted late is given back, also where its call refused another key', async () => {
  const own = new Redis(proxy.port, '127.0.0.1', { retryStrategy: () => 1.5 * TIMEOUT_MS });
  own.on('error', () => undefined);
  const shared = createRedisPartitions({ client: own, commandTimeoutMs: TIMEOUT_MS });
  const limiterOfKey = (key: string): ReturnType<typeof limiterOf> =>
    limiterOf(shared.getFixedWindowLimiter(key, () => ({ permitLimit: 10, ...day })));
  const [free, full] = [limiterOfKey('free'), limiterOfKey('full')];
  // oxlint-disable-next-line no-await-in-loop -- the first command of a connection may take long
  while (!(await full.acquire(10)).isAcquired) await available(shared);
  await free.acquire(1);
  proxy.swallowNext();
  const lost = await Promise.all([free.acquire(4), full.acquire(1)]);
  expect(lost.map((lease) => lease.getMetadata('REASON_PHRASE'))).toEqual([
    'STORE_UNAVAILABLE',
    'STORE_UNAVAILABLE',
  ]);
  await available(shared);
  expect((await free.acquire(1)).quota()[0]!.remaining).toBe(8);
  await shared.dispose();
  own.disconnect();
});

test('what is given back while the connection is lost is given back on the next, once', async () => {
  const shared = createRedisPartitions({ client, commandTimeoutMs: PATIENCE_MS });
  for (const [name, make] of Object.entries(SETUPS).filter(([name]) => name !== 'concurrency')) {
    const limiter = limiterOf(make(shared, `undone ${name}`));
    for (let round = 0; round < 5; round++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const lease = (await limiter.acquire(7)) as RemoteLease;
      proxy.swallowNext();
      lease[undoLease]();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await limiter.acquire(1)).quota()[0]!.remaining).toBe(999 - round);
    }
  }
  await shared.dispose();
});

test('what is given back while the store is given up is given back when it is there again', async () => {
  const shared = createRedisPartitions({ client, commandTimeoutMs: TIMEOUT_MS });
  const limiter = limiterOf(SETUPS.fixedWindow(shared, 'given up'));
  const leases = [(await limiter.acquire(1)) as RemoteLease, (await limiter.acquire(10)) as RemoteLease];
  server.pause();
  // The first is on its way, the second waits for its answer, when the store is given up.
  leases[0]![undoLease]();
  await new Promise(setImmediate);
  leases[1]![undoLease]();
  expect((await limiter.acquire(1)).getMetadata('REASON_PHRASE')).toBe('STORE_UNAVAILABLE');
  expect(shared.isAvailable).toBe(false);
  server.resume();
  await available(shared);
  expect((await limiter.acquire(1)).quota()[0]!.remaining).toBe(999);
  await shared.dispose();
});

test('the end does not wait for a server that does not answer', async () => {
  const shared = createRedisPartitions({ client, commandTimeoutMs: TIMEOUT_MS });
  const slots = limiterOf(SETUPS.concurrency(shared, 'end'));
  const rate = limiterOf(
    shared.getFixedWindowLimiter('end', () => ({ permitLimit: 1_000, ...day, reserveAhead: 10 })),
  );
  for (let request = 0; request < 5; request++)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await rate.acquire();
  const leases = (await Promise.all([slots.acquire(), slots.acquire()])) as RemoteLease[];
  expect(leases.every((lease) => lease.isAcquired)).toBe(true);
  server.pause();
  try {
    await leases[0]![Symbol.asyncDispose]();
    await shared.dispose();
  } finally {
    server.resume();
  }
});

async function available(shared: Shared): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (!shared.isAvailable) await new Promise((resolve) => setTimeout(resolve, 10));
}
