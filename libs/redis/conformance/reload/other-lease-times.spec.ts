import type { AsyncRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { Redis } from 'ioredis';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const server = TestServer.forThisFile();
const LONG_MS = 60_000;
const SHORT_MS = 1_000;

/** Two processes, one of which has been told of another `leaseTtlMs` already. */
let processes: readonly [RedisPartitions, RedisPartitions];
let clients: Redis[];
let key = 0;
beforeAll(() => (clients = [0, 1].map(() => new Redis(server.port, '127.0.0.1'))));
afterAll(() => clients.forEach((client) => client.disconnect()));
beforeEach(async () => {
  key++;
  processes = clients.map((client) => createRedisPartitions({ client, commandTimeoutMs: 10_000 })) as never;
  // Who hears the server's messages only now looks for what they have told before, and renews with that.
  for (const process of [0, 1] as const) {
    const other = limiterOf(
      processes[process].getConcurrencyLimiter('heard', () => ({ permitLimit: 1, queueLimit: 1 })),
    );
    const lease = await other.acquire();
    const waiting = other.acquire();
    while ((await server.client.pubsub('CHANNELS')).length < process + 1);
    await giveBack(lease);
    await giveBack(await waiting);
  }
});
afterEach(() => Promise.all(processes.map((one) => one.dispose())));

function slots(process: 0 | 1, leaseTtlMs: number, permitLimit = 1): AsyncRateLimiter {
  return limiterOf(
    processes[process].getConcurrencyLimiter(String(key), () => ({
      ...{ permitLimit, queueLimit: 10, name: 'own', leaseTtlMs },
    })),
  );
}

const giveBack = (lease: RateLimitLease): Promise<void> => (lease as RemoteLease)[Symbol.asyncDispose]();
const stateKey = (what: string): string => `ratelease:v1:{${key}}:own:concurrency:${what}`;
const isTaken = async (limiter: AsyncRateLimiter): Promise<boolean> =>
  !(await limiter.acquire(1, { maxWaitMs: 0 })).isAcquired;

/** How long the first lease lasts on the server. */
async function lastsMs(): Promise<number> {
  const [, endUs] = await server.client.zrange(stateKey('leases'), 0, 0, 'WITHSCORES');
  const [seconds, us] = await server.client.time();
  return Number(endUs) / 1_000 - (Number(seconds) * 1_000 + Number(us) / 1_000);
}

describe('where leases of a limiter live for less in another process', () => {
  it('is held for as long as by its own numbers what is held meanwhile, also once nothing else is', async () => {
    const lease = await slots(0, LONG_MS, 2).acquire();
    await giveBack(await slots(1, SHORT_MS, 2).acquire());
    expect(await server.client.pttl(stateKey('leases'))).toBeGreaterThan(LONG_MS / 2);
    await giveBack(lease);
  });

  it('waits for as long as by its own numbers who waits meanwhile', async () => {
    const lease = await slots(0, LONG_MS).acquire();
    const waiting = slots(0, LONG_MS).acquire();
    await isTaken(slots(0, LONG_MS));
    const leaving = slots(1, SHORT_MS).acquire(1, { maxWaitMs: 1 });
    expect((await leaving).isAcquired).toBe(false);
    for (const what of ['queue', 'alive'])
      expect(await server.client.pttl(stateKey(what))).toBeGreaterThan(LONG_MS / 2);
    await giveBack(lease);
    await giveBack(await waiting);
  });

  it('is handed over by that one for as long as who waited supposes', async () => {
    const lease = await slots(1, SHORT_MS).acquire();
    const waiting = slots(0, LONG_MS).acquire();
    await slots(0, LONG_MS).acquire(0, { maxWaitMs: 0 });
    await giveBack(lease);
    await waiting;
    expect(await lastsMs()).toBeGreaterThan(LONG_MS / 2);
    await giveBack(await waiting);
  });
});

describe('where leases of a limiter live for less in another limiter of the process', () => {
  it('is renewed in time what that one was granted', async () => {
    const short = slots(0, SHORT_MS, 2);
    const long = await slots(0, LONG_MS, 2).acquire();
    const lease = (await short.acquire()) as RemoteLease;
    while ((await lastsMs()) < LONG_MS / 2) expect(await isTaken(slots(1, LONG_MS, 2))).toBe(true);
    expect(lease.signal.aborted).toBe(false);
    await giveBack(lease);
    await giveBack(long);
  });

  it('keeps its place who waits for that one', async () => {
    const short = slots(0, SHORT_MS);
    const long = await slots(0, LONG_MS).acquire();
    const first = short.acquire();
    await short.acquire(0, { maxWaitMs: 0 });
    const [member] = await server.client.zrange(stateKey('queue'), 0, 0);
    await new Promise((resolve) => setTimeout(resolve, 1.5 * SHORT_MS));
    const second = slots(1, SHORT_MS).acquire();
    await slots(1, SHORT_MS).acquire(0, { maxWaitMs: 0 });
    expect(await server.client.zrange(stateKey('queue'), 0, 0)).toEqual([member]);
    await giveBack(long);
    const lease = await first;
    expect(await isTaken(slots(1, SHORT_MS))).toBe(true);
    await giveBack(lease);
    await giveBack(await second);
  });
});
