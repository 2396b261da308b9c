import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import { setTimeout as after } from 'node:timers/promises';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const HOUR = 3_600_000;
const server = TestServer.forThisFile();

let shared: RedisPartitions;
const open = (refusalCacheMs?: number): RedisPartitions =>
  createRedisPartitions({ client: server.client, commandTimeoutMs: 30_000, refusalCacheMs });
afterEach(() => shared.dispose());

const commands = (run: () => Promise<unknown>): Promise<number> => server.callsOf(run);

async function repeat(times: number, run: () => Promise<unknown>): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let time = 0; time < times; time++) await run();
}

test('a refused key isn’t asked for again, and the refusals tell the same', async () => {
  shared = open(HOUR);
  const limiter = limiterOf(shared.getFixedWindowLimiter('hot', () => ({ permitLimit: 3, windowMs: HOUR })));
  await limiter.acquire(3);
  const first = await limiter.acquire();
  const sent = await commands(() => repeat(50, () => limiter.acquire()));
  expect(sent).toBe(0);
  const last = await limiter.acquire(2);
  expect(last.isAcquired).toBe(false);
  expect(last.getMetadata('RETRY_AFTER')).toBeLessThanOrEqual(first.getMetadata('RETRY_AFTER') as number);
  expect(last.getMetadata('RETRY_AFTER')).toBeGreaterThan(HOUR - 60_000);
  expect(last.quota()[0]).toMatchObject({ limit: 3, remaining: 0, windowMs: HOUR });
  expect(limiter.getStatistics()).toMatchObject({ totalFailedLeases: 52, totalSuccessfulLeases: 1 });
});

test('a lesser request is asked for, and granted', async () => {
  shared = open(HOUR);
  const limiter = limiterOf(
    shared.getFixedWindowLimiter('lesser', () => ({ permitLimit: 5, windowMs: HOUR })),
  );
  await limiter.acquire(3);
  expect((await limiter.acquire(3)).isAcquired).toBe(false);
  expect((await limiter.acquire(2)).isAcquired).toBe(true);
});

test('by default each request asks', async () => {
  shared = open();
  const limiter = limiterOf(
    shared.getFixedWindowLimiter('default', () => ({ permitLimit: 1, windowMs: HOUR })),
  );
  await limiter.acquire();
  expect(await commands(() => repeat(20, () => limiter.acquire()))).toBe(20);
});

test('a key that was reset by hand is seen after refusalCacheMs', async () => {
  shared = open(30);
  const limiter = limiterOf(
    shared.getFixedWindowLimiter('reset', () => ({ permitLimit: 1, windowMs: HOUR })),
  );
  await limiter.acquire();
  await limiter.acquire();
  await server.client.del('ratelease:v1:{reset}');
  await after(31);
  expect((await limiter.acquire()).isAcquired).toBe(true);
});

test('what this process gives back is seen at once', async () => {
  shared = open(HOUR);
  const perUser = createPartitionedRateLimiter((user: string) =>
    shared.getFixedWindowLimiter(user, () => ({ permitLimit: 1, windowMs: HOUR })),
  );
  const all = createPartitionedRateLimiter(() =>
    shared.getFixedWindowLimiter('all', () => ({ permitLimit: 1, windowMs: HOUR })),
  );
  const chain = createChainedPartitionedRateLimiter(perUser, all);
  expect((await chain.acquire('ann')).isAcquired).toBe(true);
  // Refused by what all share: what bob's own limit granted is given back, and counts for him later.
  expect((await chain.acquire('bob')).isAcquired).toBe(false);
  expect((await perUser.acquire('bob')).isAcquired).toBe(true);
  void chain.dispose();
});

test('limiters of one call are remembered together', async () => {
  shared = open(HOUR);
  const chain = createChainedPartitionedRateLimiter(
    createPartitionedRateLimiter((user: string) =>
      shared.getFixedWindowLimiter(user, () => ({ permitLimit: 9, windowMs: HOUR })),
    ),
    createPartitionedRateLimiter((user: string) =>
      shared.getTokenBucketLimiter(user, () => ({
        tokenLimit: 2,
        tokensPerPeriod: 1,
        replenishmentPeriodMs: HOUR,
      })),
    ),
  );
  await chain.acquire('both', 2);
  expect((await chain.acquire('both')).isAcquired).toBe(false);
  expect(await commands(() => repeat(10, () => chain.acquire('both')))).toBe(0);
  void chain.dispose();
});
