import { getEventListeners } from 'node:events';
import type { RateLimitLease } from '@ratelease/limiters';
import { Redis } from 'ioredis';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const HOUR = 3_600_000;
let server: RedisServer;
let client: Redis;
let shared: RedisPartitions;
beforeAll(async () => {
  server = await RedisServer.start();
  client = new Redis(server.port, '127.0.0.1');
  shared = createRedisPartitions({ client, commandTimeoutMs: 30_000 });
});
afterAll(async () => {
  await shared.dispose();
  client.disconnect();
  await server.stop();
});

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

/** Hundred requests of one signal: Node.js warns of more than ten listeners on it. */
function ask(
  limiter: { acquire(permits: number, options: object): Promise<RateLimitLease> },
  signal: AbortSignal,
): Promise<RateLimitLease>[] {
  return Array.from({ length: 100 }, () => limiter.acquire(1, { signal }));
}

describe('a signal that a hundred requests share', () => {
  it('has one listener while they ask, and none when they are answered', async () => {
    const { signal } = new AbortController();
    const limiter = limiterOf(
      shared.getFixedWindowLimiter('rate', () => ({ permitLimit: 1_000, windowMs: HOUR })),
    );
    const asked = ask(limiter, signal);
    expect(listeners(signal)).toBe(1);
    const leases = await Promise.all(asked);
    expect(leases.filter(({ isAcquired }) => isAcquired)).toHaveLength(100);
    expect(listeners(signal)).toBe(0);
  });

  it.each([
    [
      'a rate',
      () =>
        shared.getTokenBucketLimiter('queue', () => ({
          tokenLimit: 1,
          tokensPerPeriod: 1,
          replenishmentPeriodMs: HOUR,
          queueLimit: 1_000,
        })),
    ],
    ['leases', () => shared.getConcurrencyLimiter('leases', () => ({ permitLimit: 1, queueLimit: 1_000 }))],
  ])('has at most one while they wait for %s, and ends them all', async (_name, partition) => {
    const limiter = limiterOf(partition());
    const first = await limiter.acquire();
    const controller = new AbortController();
    const { signal } = controller;
    const asked = Promise.allSettled(ask(limiter, signal));
    const waiting = (): number => limiter.getStatistics()?.currentQueuedCount ?? 0;
    expect(waiting()).toBe(100);
    expect(listeners(signal)).toBeLessThanOrEqual(1);
    // An answer later than those of all: whoever waits now, waits in the queue.
    await limiter.acquire(0, { maxWaitMs: 0 });
    expect(listeners(signal)).toBe(1);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await asked).toEqual(Array.from({ length: 100 }, () => ({ status: 'rejected', reason })));
    expect(listeners(signal)).toBe(0);
    first.dispose();
  });
});
