import type { AsyncPartitionedRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { TestServer } from '../../../../test/redis/test-server.js';

type Limiter = AsyncPartitionedRateLimiter<string>;

const server = TestServer.forThisFile();
let shared: RedisPartitions;
beforeEach(async () => {
  await server.client.flushall();
  shared = createRedisPartitions({ client: server.client, commandTimeoutMs: 10_000 });
});
afterEach(() => shared.dispose());

const slots = (name: string, permitLimit = 1, keyOf = (key: string): string => key): Limiter =>
  createPartitionedRateLimiter((key: string) =>
    shared.getConcurrencyLimiter(keyOf(key), () => ({ name, permitLimit, queueLimit: 5 })),
  );
const rate = (name: string): Limiter =>
  createPartitionedRateLimiter((key: string) =>
    shared.getFixedWindowLimiter(key, () => ({ name, permitLimit: 1, windowMs: 3_600_000, queueLimit: 5 })),
  );
const elsewhere = (name: string): Limiter => slots(name, 1, (key) => `another ${key}`);

/** How many leases and waits the server knows, of all limiters together. */
async function onServer(): Promise<{ leases: number; waits: number }> {
  const count = async (pattern: string): Promise<number> => {
    const sizes = await Promise.all(
      (await server.client.keys(pattern)).map((key) => server.client.zcard(key)),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  };
  return { leases: await count('*leases'), waits: await count('*queue') };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (!(await isSo())) await new Promise(setImmediate);
}

const chainOf = createChainedPartitionedRateLimiter<string>;
type Making = () => { chain: Limiter; end: () => PromiseLike<void>; scarce: Limiter };

function around(members: Limiter[], scarce: Limiter): ReturnType<Making> {
  const chain = chainOf(...members);
  return { chain, end: () => chain[Symbol.asyncDispose](), scarce };
}

const makings: [string, Making][] = [
  [
    'asked by one question',
    () => {
      const scarce = slots('scarce');
      return around([slots('many', 5), scarce], scarce);
    },
  ],
  [
    'of which one lies elsewhere',
    () => {
      const scarce = slots('scarce');
      return around([elsewhere('many'), scarce], scarce);
    },
  ],
  [
    'around a chain',
    () => {
      const scarce = slots('scarce');
      return around([slots('many', 5), chainOf(scarce, slots('more', 5))], scarce);
    },
  ],
  [
    'around a chain that ends',
    () => {
      const scarce = slots('scarce');
      const inner = chainOf(scarce, slots('more', 5));
      return { chain: chainOf(slots('many', 5), inner), end: () => inner[Symbol.asyncDispose](), scarce };
    },
  ],
];

describe('the end of a chain', () => {
  test.each(makings)(
    'ends a wait on the server for limiters %s, and gives its place up',
    async (_what, make) => {
      const { chain, end, scarce } = make();
      const held = await scarce.acquire('key');
      const waiting = chain.acquire('key');
      await until(async () => (await onServer()).waits === 1);
      await end();
      const lease: RateLimitLease = await waiting;
      expect([lease.isAcquired, lease.getMetadata('REASON_PHRASE')]).toEqual([false, 'Limiter disposed']);
      expect(scarce.getStatistics('key')).toMatchObject({ currentQueuedCount: 0, totalFailedLeases: 0 });
      await until(async () => (await onServer()).waits === 0 && (await onServer()).leases === 1);
      held.dispose();
      await until(async () => (await onServer()).leases === 0);
      expect((await scarce.acquire('key')).isAcquired).toBe(true);
    },
  );

  test('ends a wait in this process for a rate, and lets those behind it on', async () => {
    const scarce = rate('scarce');
    const chain = chainOf(scarce, slots('many', 5));
    await scarce.acquire('key');
    const waiting = chain.acquire('key');
    await until(async () => (scarce.getStatistics('key')?.currentQueuedCount ?? 0) === 1);
    await chain[Symbol.asyncDispose]();
    expect((await waiting).getMetadata('REASON_PHRASE')).toBe('Limiter disposed');
    expect(scarce.getStatistics('key')).toMatchObject({ currentQueuedCount: 0 });
  });

  test('leaves what its requests hold', async () => {
    const chain = chainOf(slots('one'), slots('two'));
    const lease = await chain.acquire('key');
    await chain[Symbol.asyncDispose]();
    expect([lease.isAcquired, (await onServer()).leases]).toEqual([true, 2]);
  });
});
