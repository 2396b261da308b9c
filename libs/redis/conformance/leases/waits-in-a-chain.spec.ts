import type { AsyncPartitionedRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import type { Redis } from 'ioredis';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions, LEASE_LOST_CHANNEL } from '../../src/index.js';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { TestServer } from '../../../../test/redis/test-server.js';

const server = TestServer.forThisFile();
/** Who is told by no message looks by himself only after a third of that. */
const LEASE_TTL_MS = 90_000;
const KEY = 'all';

let shared: RedisPartitions;
afterEach(() => shared.dispose());

function running(name: string, partitions = shared): AsyncPartitionedRateLimiter<string> {
  return createPartitionedRateLimiter((key: string) =>
    partitions.getConcurrencyLimiter(key, () => ({
      ...{ permitLimit: 1, queueLimit: 5, leaseTtlMs: LEASE_TTL_MS, name },
    })),
  );
}

const giveBack = (lease: RateLimitLease): Promise<void> => (lease as RemoteLease)[Symbol.asyncDispose]();

/** Until so many wait on the server for a limiter. */
async function waitedFor(name: string, waiters: number): Promise<void> {
  const keys = await server.client.keys(`*${name}*`);
  const queues = await Promise.all(
    keys.map((key) => server.client.type(key).then((type) => ({ key, type }))),
  );
  for (const { key, type } of queues)
    // oxlint-disable-next-line no-await-in-loop -- one of few
    if (type === 'zset' && key.includes('queue') && (await server.client.zcard(key)) === waiters) return;
  await new Promise((resolve) => setTimeout(resolve, 5));
  return waitedFor(name, waiters);
}

/** A client whose answers to scripts come when they are let through; messages come at once. */
function withLateAnswers(client: Redis): { client: Redis; hold(): void; letThrough(): void } {
  let gate = Promise.resolve();
  let open = (): void => undefined;
  const late =
    (command: 'eval' | 'evalsha') =>
    async (...args: [string, number, ...string[]]): Promise<unknown> => {
      const reply = await client[command](...args);
      await gate;
      return reply;
    };
  return {
    client: new Proxy(client, {
      get: (target, name) => {
        if (name === 'eval' || name === 'evalsha') return late(name);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    }),
    hold() {
      gate = new Promise((resolve) => (open = resolve));
    },
    letThrough: () => open(),
  };
}

describe.each(['first', 'second'])('who waits for the %s of two limiters of one key', (which) => {
  it('is told by the message that it has its turn', async () => {
    shared = createRedisPartitions({ client: server.client, commandTimeoutMs: 10_000 });
    const [one, two] = [running(`told-${which}-1`), running(`told-${which}-2`)];
    const taken = which === 'first' ? one : two;
    const lease = await taken.acquire(KEY);
    const waiting = createChainedPartitionedRateLimiter(one, two).acquire(KEY);
    await waitedFor(`told-${which}`, 1);
    await giveBack(lease);
    const granted = await waiting;
    expect(granted.isAcquired).toBe(true);
    await giveBack(granted);
    expect((await one.acquire(KEY, 1, { maxWaitMs: 0 })).isAcquired).toBe(true);
    expect((await two.acquire(KEY, 1, { maxWaitMs: 0 })).isAcquired).toBe(true);
  });

  it('gives back what it was granted before the answer that it waits, and nothing that it was not', async () => {
    const lost: unknown[] = [];
    const onLost = (message: unknown): void => void lost.push(message);
    subscribe(LEASE_LOST_CHANNEL, onLost);
    const late = withLateAnswers(server.client);
    shared = createRedisPartitions({ client: late.client, commandTimeoutMs: 10_000 });
    const others = createRedisPartitions({ client: server.client, commandTimeoutMs: 10_000 });
    const names = [`early-${which}-1`, `early-${which}-2`];
    const chain = createChainedPartitionedRateLimiter(...names.map((name) => running(name)));
    // The subscription and the scripts are there.
    await giveBack(await chain.acquire(KEY));
    const elsewhere = names.map((name) => running(name, others));
    const [taken, free] = which === 'first' ? elsewhere : elsewhere.reverse();
    const leases = [await taken!.acquire(KEY)];
    late.hold();
    const waiting = chain.acquire(KEY);
    await waitedFor(`early-${which}`, 1);
    leases.push(await free!.acquire(KEY));
    await giveBack(leases[0]!);
    await new Promise((resolve) => setTimeout(resolve, 100));
    late.letThrough();
    // At its turn it finds the other one taken, and waits for that one.
    await waitedFor(`early-${which}`, 1);
    const between = await taken!.acquire(KEY, 1, { maxWaitMs: 0 });
    expect(between.isAcquired).toBe(true);
    await giveBack(between);
    await giveBack(leases[1]!);
    await giveBack(await waiting);
    for (const limiter of elsewhere)
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await limiter.acquire(KEY, 1, { maxWaitMs: 0 })).isAcquired).toBe(true);
    await others.dispose();
    unsubscribe(LEASE_LOST_CHANNEL, onLost);
    expect(lost).toEqual([]);
  });
});
