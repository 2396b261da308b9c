import type { AsyncRateLimiter } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const HOUR = 3_600_000;
const server = TestServer.forThisFile();
let here: RedisPartitions;
let there: RedisPartitions;
let keys = 0;
beforeEach(() => {
  keys++;
  [here, there] = [1, 2].map(() =>
    createRedisPartitions({ client: server.client, commandTimeoutMs: 30_000 }),
  ) as [RedisPartitions, RedisPartitions];
});
afterEach(() => Promise.all([here.dispose(), there.dispose()]));

const slotsOf = (shared: RedisPartitions, options: object = {}): AsyncRateLimiter =>
  limiterOf(
    shared.getConcurrencyLimiter(`slots-${keys}`, () => ({ permitLimit: 10, queueLimit: 20, ...options })),
  );

/** Resolves when the server has decided about everything that was asked before, here. */
async function decided(limiter: AsyncRateLimiter): Promise<void> {
  await limiter.acquire(0, { maxWaitMs: 0 });
}

/** Resolves when the process hears messages. */
async function listens(shared: RedisPartitions): Promise<void> {
  const limiter = limiterOf(
    shared.getConcurrencyLimiter(`listens-${keys}`, () => ({ permitLimit: 1, queueLimit: 1 })),
  );
  const lease = await limiter.acquire();
  const waiting = limiter.acquire();
  await decided(limiter);
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (((await server.client.pubsub('CHANNELS')) as string[]).length === 0);
  lease.dispose();
  (await waiting).dispose();
}

test('a grant after a wait tells how many permits were left at the grant, not at the beginning of the wait', async () => {
  const [slots, others] = [slotsOf(here), slotsOf(there)];
  const [eight, two] = [await others.acquire(8), await others.acquire(2)];
  // At its beginning there are none.
  const waiting = slots.acquire(3);
  await decided(slots);
  two.dispose();
  eight.dispose();
  expect((await waiting).quota()).toEqual([
    { limit: 10, remaining: 7, member: 0, resetAfterMs: undefined, windowMs: undefined },
  ]);
});

test('who is handed over one after the other is told one permit less each', async () => {
  const [slots, others] = [slotsOf(here), slotsOf(there)];
  const all = await others.acquire(10);
  // Before it hears messages it looks, and knows the end.
  await listens(here);
  const waiting = Array.from({ length: 4 }, () => slots.acquire());
  await decided(slots);
  all.dispose();
  const remaining = (await Promise.all(waiting)).map((lease) => lease.quota()[0]!.remaining);
  expect(remaining).toEqual([9, 8, 7, 6]);
});

test('a refusal that ends a wait tells how the limiter stands: its time is over', async () => {
  const [slots, others] = [slotsOf(here), slotsOf(there)];
  await others.acquire(8);
  const refused = await slots.acquire(3, { maxWaitMs: 1_000 });
  expect(refused.getMetadata('REASON_PHRASE')).toBe('Wait limit reached');
  expect(refused.quota()).toMatchObject([{ limit: 10, remaining: 2, member: 0 }]);
});

test('a refusal that ends a wait tells how the limiter stands: a newer request took its place', async () => {
  const newest = { queueLimit: 3, queueProcessingOrder: 'newestFirst' };
  const [slots, others] = [slotsOf(here, newest), slotsOf(there, newest)];
  await others.acquire(8);
  const old = slots.acquire(3);
  await decided(slots);
  void others.acquire(3);
  const evicted = await old;
  expect(evicted.getMetadata('REASON_PHRASE')).toBe('Evicted by a newer request');
  expect(evicted.quota()).toMatchObject([{ limit: 10, remaining: 2, member: 0 }]);
});

test('a refusal that ends a wait tells how the limiter stands: a rate, and all of a chain', async () => {
  const rate = limiterOf(
    here.getFixedWindowLimiter(`rate-${keys}`, () => ({ permitLimit: 5, windowMs: HOUR, queueLimit: 9 })),
  );
  await rate.acquire(3);
  const newest = limiterOf(
    here.getFixedWindowLimiter(`newest-${keys}`, () => ({
      ...{ permitLimit: 5, windowMs: HOUR, queueLimit: 3 },
      queueProcessingOrder: 'newestFirst' as const,
    })),
  );
  await newest.acquire(3);
  const old = newest.acquire(3);
  await decided(newest);
  void newest.acquire(3);
  const evicted = await old;
  expect(evicted.getMetadata('REASON_PHRASE')).toBe('Evicted by a newer request');
  expect(evicted.quota()).toMatchObject([{ limit: 5, remaining: 2 }]);
  const chain = createChainedPartitionedRateLimiter<string>(
    createPartitionedRateLimiter((key: string) =>
      here.getFixedWindowLimiter(key, () => ({ permitLimit: 9, windowMs: HOUR })),
    ),
    createPartitionedRateLimiter((key: string) =>
      here.getConcurrencyLimiter(key, () => ({ permitLimit: 4, queueLimit: 9 })),
    ),
  );
  await chain.acquire(`chain-${keys}`, 3);
  const refused = await chain.acquire(`chain-${keys}`, 2, { maxWaitMs: 1_000 });
  expect(refused.quota()).toMatchObject([
    { limit: 9, remaining: 6 },
    { limit: 4, remaining: 1 },
  ]);
  void chain.dispose();
});
