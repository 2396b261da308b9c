import { setTimeout as after } from 'node:timers/promises';
import type { AsyncPartitionedRateLimiter, RateLimitLease } from '@ratelease/limiters';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
  refusedMember,
} from '@ratelease/limiters';
import { Redis } from 'ioredis';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import type { FailurePolicy } from '../../src/remote/limiter-definition.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';

const HOUR = 3_600_000;
type Limiter = AsyncPartitionedRateLimiter<string>;

let server: RedisServer;
let client: Redis;
let shared: RedisPartitions;
beforeAll(async () => {
  server = await RedisServer.start();
});
beforeEach(async () => {
  client = new Redis(server.port, '127.0.0.1', { retryStrategy: () => 20 });
  client.on('error', () => undefined);
  await client.flushall();
  shared = createRedisPartitions({ client, commandTimeoutMs: 10_000 });
});
afterEach(async () => {
  await shared.dispose();
  client.disconnect();
});
afterAll(() => server.stop());

const rate = (permitLimit: number, options: { queueLimit?: number } & Partial<FailurePolicy> = {}): Limiter =>
  createPartitionedRateLimiter((key: string) =>
    shared.getFixedWindowLimiter(key, () => ({ permitLimit, windowMs: HOUR, ...options })),
  );
const slots = (permitLimit: number, queueLimit: number): Limiter =>
  createPartitionedRateLimiter((key: string) =>
    shared.getConcurrencyLimiter(key, () => ({ permitLimit, queueLimit })),
  );
const inProcess = (permitLimit: number): Limiter =>
  createPartitionedRateLimiter((key: string) =>
    RateLimitPartition.getFixedWindowLimiter(key, () => ({ permitLimit, windowMs: HOUR })),
  );
const members = (lease: RateLimitLease): [member: number, limit: number][] =>
  lease.quota().map(({ member, limit }) => [member, limit]);

describe('a count above the limit of one of them names it', () => {
  test.each<[string, number, () => Limiter[]]>([
    ['asked together', 1, () => [rate(10), rate(3), rate(8)]],
    ['in process, behind one that is shared', 2, () => [rate(10), inProcess(8), inProcess(3)]],
    ['shared, behind some in process', 3, () => [inProcess(8), rate(10), inProcess(9), rate(3)]],
    ['of a chain within', 1, () => [rate(10), createChainedPartitionedRateLimiter(rate(8), rate(3))]],
  ])('%s', async (_what, member, make) => {
    const chain = createChainedPartitionedRateLimiter(...make());
    const error = await chain.acquire('key', 5).catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ code: 'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT' });
    expect(refusedMember(error)).toBe(member);
  });
});

test('what a chain within tells of its limiters is told of its place, granted and refused', async () => {
  const within = createChainedPartitionedRateLimiter(rate(10), rate(3), rate(8));
  const chain = createChainedPartitionedRateLimiter(rate(20), inProcess(30), within);
  const granted = await chain.acquire('key', 3);
  expect(granted.isAcquired).toBe(true);
  expect(members(granted).toSorted(([one], [other]) => one - other)).toEqual([
    [0, 20],
    [1, 30],
    [2, 10],
    [2, 3],
    [2, 8],
  ]);
  const refused = await chain.acquire('key', 1);
  expect(refused.isAcquired).toBe(false);
  expect(refusedMember(refused)).toBe(2);
  // All of one key are asked by one question, those of the chain within too.
  expect(members(refused)).toEqual([
    [0, 20],
    [2, 10],
    [2, 3],
    [2, 8],
  ]);
});

describe.each([
  ['a rate', () => rate(3, { queueLimit: 5 })],
  ['a concurrency limiter', () => slots(3, 5)],
])('who waits for %s in a chain is told', (_what, make) => {
  test.each([0, 1])('when limiter %d of the chain ends', async (ending) => {
    const limiters = [rate(10), make()];
    const chain = createChainedPartitionedRateLimiter(...limiters);
    const lease = await chain.acquire('key', 3);
    const waiting = chain.acquire('key');
    // oxlint-disable-next-line no-await-in-loop -- until it waits
    while (!(await isWaiting(limiters[1]!))) await after(5);
    await limiters[ending]!.dispose();
    expect((await waiting).getMetadata('REASON_PHRASE')).toBe('Limiter disposed');
    lease.dispose();
  });
});

test('without a store each is told of in its place', async () => {
  const soon = { commandTimeoutMs: 250 };
  const local = { ...soon, whenUnavailable: 'local' } as const;
  const limiters = [rate(20, { ...soon, whenUnavailable: 'allow' }), rate(10, local), rate(3, local)];
  const chain = createChainedPartitionedRateLimiter(...limiters);
  await server.kill();
  const granted = await chain.acquire('key', 3);
  expect(granted.isAcquired).toBe(true);
  expect(members(granted)).toEqual([
    [1, 10],
    [2, 3],
  ]);
  const refused = await chain.acquire('key', 1);
  expect(refused.isAcquired).toBe(false);
  expect(refusedMember(refused)).toBe(2);
  expect(members(refused)).toEqual(members(granted));
  await server.start();
});

async function isWaiting(limiter: Limiter): Promise<boolean> {
  const look = await limiter.acquire('key', 0, { maxWaitMs: 0 });
  return !look.isAcquired && limiter.getStatistics('key')!.currentQueuedCount === 1;
}
