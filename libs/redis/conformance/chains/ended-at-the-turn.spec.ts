import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import type { AsyncPartitionedRateLimiter } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import type { Redis } from 'ioredis';
import { buildRedisPartitions } from '../../src/create-redis-partitions.js';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const WINDOW_MS = 1_000;
const START_US = 1_783_228_800_123_456;
const KEY = 'k';
const SLOW_KEY = 'slow';
const server = TestServer.forThisFile();

/** A client that hands on what is answered about a key when it is let through. */
function withLateAnswersOf(key: string, client: Redis, gate: Promise<void>): Redis {
  const late = async (...args: [string, number, ...string[]]): Promise<unknown> => {
    const reply = await client.evalsha(...args);
    if (args.some((arg) => String(arg).includes(key))) await gate;
    return reply;
  };
  return new Proxy(client, {
    get: (target, name) => {
      if (name === 'evalsha') return late;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function running(partitions: RedisPartitions): AsyncPartitionedRateLimiter<string> {
  return createPartitionedRateLimiter((key: string) =>
    partitions.getConcurrencyLimiter(key, () => ({ permitLimit: 1, queueLimit: 5, name: 'running' })),
  );
}

test('a request whose turn comes as everything ends does not wait for the next limiter of its chain', async () => {
  let letThrough = (): void => undefined;
  const gate = new Promise<void>((resolve) => (letThrough = resolve));
  const client = withLateAnswersOf(SLOW_KEY, server.client, gate);
  const clock = new FakeClock();
  const now = (): number => START_US + clock.now() * 1_000;
  const shared = buildRedisPartitions({ client, commandTimeoutMs: 30_000 }, now);
  const others = buildRedisPartitions({ client: server.client, commandTimeoutMs: 30_000 }, now);
  const rate = createPartitionedRateLimiter((key: string) => {
    const window = { permitLimit: 1, windowMs: WINDOW_MS, queueLimit: 5, clock };
    return shared.getFixedWindowLimiter(key, () => window);
  });
  const chain = createChainedPartitionedRateLimiter(rate, running(shared));
  // The scripts are there.
  await ((await chain.acquire(KEY)) as RemoteLease)[Symbol.asyncDispose]();
  const lease = await running(others).acquire(KEY);
  const asked = chain.acquire(KEY);
  while (clock.pendingTimers === 0) await new Promise(setImmediate);
  const slow = limiterOf(shared.getConcurrencyLimiter(SLOW_KEY, () => ({ permitLimit: 1 }))).acquire();
  clock.advance(WINDOW_MS);
  const ended = shared.dispose();
  const waited = await running(others).acquire(KEY, 1, { maxWaitMs: 100 });
  expect(waited.isAcquired).toBe(false);
  letThrough();
  expect((await asked).getMetadata('REASON_PHRASE')).toBe('Limiter disposed');
  await Promise.all([ended, slow]);
  await (lease as RemoteLease)[Symbol.asyncDispose]();
  await others.dispose();
});
