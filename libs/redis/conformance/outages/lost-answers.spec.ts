import type { AsyncRateLimiter, RateLimitLease, RateLimitPartition } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import { Redis } from 'ioredis';
import { buildRedisPartitions } from '../../src/create-redis-partitions.js';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { clientsThatReconnect } from '../../../../test/redis/clients.js';
import type { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { ProxiedServer } from '../../../../test/redis/proxied-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const START_US = 1_783_228_800_123_456;
const WINDOW_MS = 10_000;
const PATIENCE = { commandTimeoutMs: 20_000 };

let proxied: ProxiedServer;
let proxy: CuttingProxy;
let opened: OpenClient;
let admin: Redis;
beforeAll(async () => {
  proxied = await ProxiedServer.start();
  ({ proxy, admin } = proxied);
});
afterEach(() => opened.close());
afterAll(() => proxied.stop());

/** Long enough for what happens before a client connects again. */
const RECONNECT_MS = 200;
/** One sends again by itself what was not answered, with the others we do, with arguments of that time. */
const CLIENTS = [
  {
    name: 'ioredis that sends nothing again',
    open: async (port: number): Promise<OpenClient> => {
      const options = { retryStrategy: () => RECONNECT_MS, autoResendUnfulfilledCommands: false };
      const client = new Redis(port, '127.0.0.1', options);
      client.on('error', () => undefined);
      await client.ping();
      return { client, close: () => client.disconnect() };
    },
  },
  ...clientsThatReconnect(RECONNECT_MS),
];

/** What goes in one call is carried out, and its answer lost; `meanwhile`, then the call is sent again. */
async function whenLost(
  ask: () => Promise<RateLimitLease>[],
  meanwhile: () => unknown,
): Promise<Promise<RateLimitLease>[]> {
  const before = proxy.swallowed;
  proxy.swallowNext();
  const asked = ask();
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (proxy.swallowed === before) await new Promise(setImmediate);
  await meanwhile();
  return asked;
}

const areAcquired = async (asked: readonly Promise<RateLimitLease>[]): Promise<boolean[]> =>
  (await Promise.all(asked)).map((lease) => lease.isAcquired);

test('of a rate: who was refused may find permits when it is sent again, and is charged for them; who was granted is charged once', async () => {
  let nowUs = START_US;
  opened = await CLIENTS[0]!.open(proxy.port);
  const shared = buildRedisPartitions({ client: opened.client, ...PATIENCE }, () => nowUs);
  const window = limiterOf(
    shared.getFixedWindowLimiter('rate', () => ({ permitLimit: 5, windowMs: WINDOW_MS })),
  );
  await window.acquire(0);
  const asked = await whenLost(
    () => [window.acquire(4), window.acquire(3), window.acquire(1), window.acquire(4)],
    () => (nowUs += WINDOW_MS * 1_000),
  );
  expect(await areAcquired(asked)).toEqual([true, true, true, false]);
  const remaining = await Promise.all(asked.map(async (lease) => (await lease).quota()[0]!.remaining));
  expect(remaining).toEqual([5, 2, 2, 2]);
  expect((await window.acquire(0)).quota()[0]!.remaining).toBe(2);
  await shared.dispose();
});

const QUEUES = CLIENTS.flatMap(({ name, open }) =>
  ['alone', 'after a rate'].map((how) => ({ name, how, open })),
);
describe.each(QUEUES)('of a queue that is asked $how, through $name', ({ name, how, open }) => {
  let shared: RedisPartitions;
  let other: RedisPartitions;
  beforeEach(async () => {
    opened = await open(proxy.port);
    // What a message would tell only the answer can.
    proxy.loseMessages(() => true);
    shared = createRedisPartitions({ client: opened.client, prefix: name, ...PATIENCE });
    other = createRedisPartitions({ client: admin, prefix: name, ...PATIENCE });
  });
  afterEach(async () => {
    proxy.loseMessages(() => false);
    await Promise.all([shared.dispose(), other.dispose()]);
  });

  const slotsOf = (partitions: RedisPartitions): RateLimitPartition<string, AsyncRateLimiter> =>
    partitions.getConcurrencyLimiter(how, () => ({ permitLimit: 3, queueLimit: 9, leaseTtlMs: 3_000 }));

  /** Asks the slots, alone or after a rate. */
  function asking(): (maxWaitMs?: number) => Promise<RateLimitLease> {
    const slots = createPartitionedRateLimiter(() => slotsOf(shared));
    const options = { permitLimit: 100, windowMs: 3_600_000 };
    const rate = createPartitionedRateLimiter(() => shared.getFixedWindowLimiter(how, () => options));
    const limiter = how === 'alone' ? slots : createChainedPartitionedRateLimiter(rate, slots);
    return (maxWaitMs = 60_000) => limiter.acquire(undefined, 1, { maxWaitMs });
  }

  /** The connection for messages is open: no answer on it will be taken for that of a call. */
  async function untilHeard(): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while (((await admin.pubsub('CHANNELS')) as string[]).length === 0) await new Promise(setImmediate);
  }

  test('who waited, and was granted meanwhile, holds what the server counts, and gives it back', async () => {
    const theirs = limiterOf(slotsOf(other));
    const held = await Promise.all([theirs.acquire(), theirs.acquire(2)]);
    const ask = asking();
    const given = await ask(1);
    expect(given.isAcquired).toBe(false);
    await untilHeard();
    // What is given back of the first wait is through as well.
    await ask(0);
    const asked = await whenLost(
      () => [ask(), ask()],
      () => Promise.all(held.map((lease) => (lease as RemoteLease)[Symbol.asyncDispose]())),
    );
    expect(await areAcquired(asked)).toEqual([true, true]);
    expect((await theirs.acquire(2, { maxWaitMs: 0 })).isAcquired).toBe(false);
    for (const lease of asked) (await lease).dispose();
    await shared.dispose();
    expect((await theirs.acquire(3, { maxWaitMs: 0 })).isAcquired).toBe(true);
  });
});
