import type { AsyncPartitionedRateLimiter, RateLimitLease } from '@ratelease/limiters';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
  refusedMember,
  retryAfterOfAll,
} from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import { buildRedisPartitions } from '../../src/create-redis-partitions.js';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { scriptCalls } from '../../../../test/redis/script-calls.js';

interface Request {
  readonly user: string;
}

const server = TestServer.forThisFile();
let shared: RedisPartitions;
let made: AsyncPartitionedRateLimiter<Request>[];
beforeEach(async () => {
  await server.client.flushall();
  shared = createRedisPartitions({ client: server.client, commandTimeoutMs: 10_000 });
  made = [];
});
afterEach(async () => {
  for (const limiter of made) void limiter.dispose();
  await shared.dispose();
});

const HOUR = 3_600_000;
const START_US = 1_783_228_800_123_456;
const made_ = <T extends AsyncPartitionedRateLimiter<Request>>(limiter: T): T => {
  made.push(limiter);
  return limiter;
};
const window = (permitLimit: number, keyOf = (request: Request): string => request.user, windowMs = HOUR) =>
  made_(
    createPartitionedRateLimiter((request: Request) =>
      shared.getFixedWindowLimiter(keyOf(request), () => ({ permitLimit, windowMs })),
    ),
  );
const bucket = (tokenLimit: number) =>
  made_(
    createPartitionedRateLimiter(({ user }: Request) =>
      shared.getTokenBucketLimiter(user, () => ({
        tokenLimit,
        tokensPerPeriod: 1,
        replenishmentPeriodMs: HOUR,
      })),
    ),
  );
const concurrency = (permitLimit: number, queueLimit = 0) =>
  made_(
    createPartitionedRateLimiter(({ user }: Request) =>
      shared.getConcurrencyLimiter(user, () => ({ permitLimit, queueLimit })),
    ),
  );
const user = { user: 'ann' };
const remaining = (lease: RateLimitLease): [member: number, remaining: number][] =>
  lease.quota().map((entry) => [entry.member, entry.remaining]);

const calls = (): Promise<number> => scriptCalls(server.client);

test('limiters of one partition in a chain are one call, all or nothing', async () => {
  const chain = createChainedPartitionedRateLimiter(window(5), bucket(3), concurrency(10));
  const before = await calls();
  const first = await chain.acquire(user, 2);
  expect(first.isAcquired).toBe(true);
  expect(remaining(first)).toEqual([
    [0, 3],
    [1, 1],
    [2, 8],
  ]);
  // The script was not known yet: it was sent once by its hash and once by its text.
  expect((await calls()) - before).toBeLessThanOrEqual(2);
  const between = await calls();
  const refused = await chain.acquire(user, 2);
  expect((await calls()) - between).toBe(1);
  expect(refused.isAcquired).toBe(false);
  expect(refusedMember(refused)).toBe(1);
  expect(remaining(refused)).toEqual([
    [0, 3],
    [1, 1],
    [2, 8],
  ]);
  expect((await chain.acquire(user, 1)).isAcquired).toBe(true);
});

test('the same limiter twice in a chain is charged twice', async () => {
  const one = window(5);
  const chain = createChainedPartitionedRateLimiter(one, one);
  await chain.acquire(user, 1);
  expect(remaining(await one.acquire(user, 0))).toEqual([[0, 3]]);
});

test('two partitions are two calls, and what the first granted is given back when the second refuses', async () => {
  const everybody = window(2, () => 'everybody');
  const chain = createChainedPartitionedRateLimiter(window(5), bucket(5), everybody);
  expect((await chain.acquire(user, 2)).isAcquired).toBe(true);
  const refused = await chain.acquire({ user: 'bob' }, 2);
  expect(refused.isAcquired).toBe(false);
  expect(refusedMember(refused)).toBe(2);
  expect(remaining(refused)).toEqual([[2, 0]]);
  const bob = await createChainedPartitionedRateLimiter(window(5), bucket(5)).acquire({ user: 'bob' }, 5);
  expect(bob.isAcquired).toBe(true);
});

test('a limiter in process is asked last: the shared ones are given back what it refuses', async () => {
  const local = createPartitionedRateLimiter(({ user: name }: Request) =>
    RateLimitPartition.getFixedWindowLimiter(name, () => ({ permitLimit: 1, windowMs: HOUR })),
  );
  const one = window(5);
  const chain = createChainedPartitionedRateLimiter<Request>(local, one);
  expect((await chain.acquire(user)).isAcquired).toBe(true);
  const refused = await chain.acquire(user);
  expect(refusedMember(refused)).toBe(0);
  expect(remaining(await one.acquire(user, 0))).toEqual([[0, 4]]);
  local.dispose();
});

test('a refusal tells when all that refuse would grant', async () => {
  const chain = createChainedPartitionedRateLimiter(window(1, undefined, 60_000), window(1, undefined, HOUR));
  await chain.acquire(user);
  const refused = await chain.acquire(user);
  expect(refused.getMetadata('RETRY_AFTER')).toBeLessThanOrEqual(60_000);
  expect(retryAfterOfAll(refused)).toBeGreaterThan(60_000);
});

test('a chain that waits for a concurrency limiter holds no permits of its rates', async () => {
  const rate = window(5);
  const chain = createChainedPartitionedRateLimiter(rate, concurrency(1, 5));
  const lease = await chain.acquire(user);
  const waiting = chain.acquire(user);
  expect(remaining(await rate.acquire(user, 0))).toEqual([[0, 4]]);
  lease.dispose();
  const granted = await waiting;
  expect(granted.isAcquired).toBe(true);
  expect(remaining(await rate.acquire(user, 0))).toEqual([[0, 3]]);
  granted.dispose();
});

test('a chain that waits for a rate holds no lease', async () => {
  const clock = new FakeClock();
  const now = (): number => START_US + clock.now() * 1_000;
  await using timed = buildRedisPartitions({ client: server.client, commandTimeoutMs: 10_000 }, now);
  const slots = made_(
    createPartitionedRateLimiter((request: Request) =>
      timed.getConcurrencyLimiter(request.user, () => ({ permitLimit: 1 })),
    ),
  );
  const rate = made_(
    createPartitionedRateLimiter((request: Request) =>
      timed.getFixedWindowLimiter(request.user, () => ({
        permitLimit: 1,
        windowMs: HOUR,
        queueLimit: 5,
        clock,
      })),
    ),
  );
  const chain = createChainedPartitionedRateLimiter(slots, rate);
  (await chain.acquire(user)).dispose();
  const waiting = chain.acquire(user);
  while (clock.pendingTimers === 0) await new Promise(setImmediate);
  const other = await slots.acquire(user);
  expect(other.isAcquired).toBe(true);
  await (other as RemoteLease)[Symbol.asyncDispose]();
  clock.advance(HOUR);
  expect((await waiting).isAcquired).toBe(true);
});
