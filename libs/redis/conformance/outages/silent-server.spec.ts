import diagnostics from 'node:diagnostics_channel';
import { setTimeout as after } from 'node:timers/promises';
import type { RateLimitLease } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import type { RedisPartitions, RemoteLease, StoreEvent } from '../../src/index.js';
import { createRedisPartitions, STORE_CHANNEL } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { Overtime } from './overtime.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import type { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { ProxiedServer } from '../../../../test/redis/proxied-server.js';
import { freePort } from '../../../../test/ports/free-port.js';

/** Long enough for what is to be answered in time on a busy machine. */
const TIMEOUT_MS = 1_000;
/** Beside a timer of the same length, and far less than whoever waits for a command once more would take. */
const SLACK_MS = TIMEOUT_MS / 2;
const TTL_MS = 2_000;
const HOUR = 3_600_000;
const ONE = { permitLimit: 1, queueLimit: 5, leaseTtlMs: TTL_MS };

let proxied: ProxiedServer;
let proxy: CuttingProxy;
let admin: Redis;
beforeAll(async () => {
  proxied = await ProxiedServer.start();
  ({ proxy, admin } = proxied);
});
afterAll(() => proxied.stop());

const reasonOf = (lease: RateLimitLease): unknown => lease.getMetadata('REASON_PHRASE');

/** How much longer than so many milliseconds it takes. */
async function overtimeOf(ms: number, run: () => Promise<unknown>): Promise<number> {
  const overtime = new Overtime(ms);
  await overtime.of(run);
  return overtime.mostMs;
}

describe.each(CLIENTS)('a server that is cut off, through $name', ({ open, name }) => {
  let opened: OpenClient;
  let shared: RedisPartitions;
  beforeEach(async () => {
    opened = await open(proxy.port);
    shared = createRedisPartitions({ client: opened.client, commandTimeoutMs: TIMEOUT_MS, prefix: name });
  });
  afterEach(async () => {
    proxy.delayMs = 0;
    proxy.speak();
    await shared.dispose();
    opened.close();
  });

  test('holds no lease beyond its time: the holder is told, and who waits is answered without it', async () => {
    const slots = limiterOf(shared.getConcurrencyLimiter('slots', () => ONE));
    const lease = (await slots.acquire()) as RemoteLease;
    const waiting = slots.acquire();
    const lost = new Promise((resolve) => lease.signal.addEventListener('abort', resolve, { once: true }));
    // An answer later than that of the one who waits.
    await slots.acquire(0, { maxWaitMs: 0 });
    proxy.silence();
    // Neither was renewed after that.
    const [lostLate, answeredLate] = await Promise.all([
      overtimeOf(TTL_MS, () => lost),
      overtimeOf(TTL_MS + TIMEOUT_MS, () => waiting),
    ]);
    expect(lease.signal.reason).toMatchObject({ code: 'ERR_RL_LEASE_LOST' });
    expect(lostLate).toBeLessThan(SLACK_MS);
    expect(reasonOf(await waiting)).toBe('STORE_UNAVAILABLE');
    expect(answeredLate).toBeLessThan(SLACK_MS);
    // And what it kept for them is free again as soon as it can be asked.
    proxy.speak();
    const free = async (): Promise<void> => {
      // oxlint-disable-next-line no-await-in-loop -- until it is well
      while (!(await slots.acquire(1, { maxWaitMs: 0 })).isAcquired) await after(5);
    };
    expect(await overtimeOf(TTL_MS, free)).toBeLessThan(SLACK_MS);
  });

  test('and then answers with errors is not well between: that is not told, and what was spent without it stays spent', async () => {
    const states: string[] = [];
    const listener = (event: unknown): void => void states.push((event as StoreEvent).state);
    diagnostics.subscribe(STORE_CHANNEL, listener);
    const rate = limiterOf(
      shared.getFixedWindowLimiter('errors', () => ({
        ...{ permitLimit: 3, windowMs: HOUR, whenUnavailable: 'local' as const },
      })),
    );
    await rate.acquire();
    proxy.silence();
    const spent = await Promise.all([1, 2, 3].map(() => rate.acquire()));
    expect(spent.every(({ isAcquired }) => isAcquired)).toBe(true);
    await admin.call('ACL', 'SETUSER', 'default', '-evalsha', '-eval');
    try {
      // What was on its way is answered: with an error.
      proxy.speak();
      // oxlint-disable-next-line no-await-in-loop -- until it is so
      while (states.length < 2) await after(5);
      expect((await rate.acquire()).isAcquired).toBe(false);
    } finally {
      await admin.call('ACL', 'SETUSER', 'default', '+@all');
    }
    // oxlint-disable-next-line no-await-in-loop -- until it is well
    while (states.length < 3) await rate.acquire(0, { maxWaitMs: 0 });
    diagnostics.unsubscribe(STORE_CHANNEL, listener);
    expect(states).toEqual(['unavailable', 'refusing', 'available']);
  });

  test('keeps neither the end up, nor those whose decisions are on their way when the client is closed', async () => {
    const limiters = Array.from({ length: 20 }, (_, key) =>
      limiterOf(shared.getFixedWindowLimiter(String(key), () => ({ permitLimit: 10, windowMs: HOUR }))),
    );
    const ask = (): Promise<RateLimitLease>[] => limiters.map((limiter) => limiter.acquire());
    await Promise.all(ask());
    proxy.silence();
    const asked = ask();
    await new Promise(setImmediate);
    expect(await overtimeOf(TIMEOUT_MS, () => shared.dispose())).toBeLessThan(SLACK_MS);
    opened.close();
    // No longer than that: nobody waits for a command that the client has still in hand.
    expect(await overtimeOf(0, () => Promise.all(asked))).toBeLessThan(SLACK_MS);
    expect((await Promise.all(asked)).map(reasonOf)).toEqual(asked.map(() => 'STORE_UNAVAILABLE'));
  });

  /** It has the whole time, and no more. */
  async function oneTime(ask: () => Promise<RateLimitLease>): Promise<void> {
    const askedMs = performance.now();
    let lease: RateLimitLease | undefined;
    const late = await overtimeOf(TIMEOUT_MS, async () => (lease = await ask()));
    expect(reasonOf(lease!)).toBe('STORE_UNAVAILABLE');
    expect(performance.now() - askedMs).toBeGreaterThan(TIMEOUT_MS - 5);
    expect(late).toBeLessThan(SLACK_MS);
  }

  test('a request that asks twice has one time for both: beside its own reserve', async () => {
    // A clock that stands still: what is reserved stays.
    const options = { permitLimit: 100, windowMs: HOUR, reserveAhead: 100, clock: new FakeClock() };
    const limiter = limiterOf(shared.getFixedWindowLimiter('weighted', () => options));
    for (let request = 0; request < 20; request++)
      // oxlint-disable-next-line no-await-in-loop -- one after the other, until it has reserved some
      expect((await limiter.acquire()).isAcquired).toBe(true);
    proxy.delayMs = TIMEOUT_MS * 0.6;
    await oneTime(() => limiter.acquire(80));
  });

  test('a request that asks twice has one time for both: where the queue is full', async () => {
    const options = { permitLimit: 2, windowMs: HOUR, queueLimit: 1 };
    const limiter = limiterOf(shared.getFixedWindowLimiter('queue', () => options));
    expect((await limiter.acquire(2)).isAcquired).toBe(true);
    proxy.delayMs = TIMEOUT_MS * 0.6;
    // Both are refused, and the queue has a place for the first only: the other asks how long that would have taken.
    const waiting = limiter.acquire();
    await oneTime(() => limiter.acquire());
    await shared.dispose();
    expect((await waiting).isAcquired).toBe(false);
  });
});

test.each(['ioredis', 'node-redis'])(
  'a request that may wait for a lease has one time for all that it needs a server for, through %s',
  async (kind) => {
    const port = await freePort();
    const client =
      kind === 'ioredis' ? new Redis(port, '127.0.0.1') : createClient({ url: `redis://127.0.0.1:${port}` });
    const shared = createRedisPartitions({ client, commandTimeoutMs: TIMEOUT_MS });
    const slots = limiterOf(shared.getConcurrencyLimiter('slots', () => ONE));
    const ask = async (): Promise<void> => expect(reasonOf(await slots.acquire())).toBe('STORE_UNAVAILABLE');
    expect(await overtimeOf(TIMEOUT_MS, ask)).toBeLessThan(SLACK_MS);
    // The first has learned that there is none.
    expect(await overtimeOf(0, ask)).toBeLessThan(SLACK_MS);
    await shared.dispose();
    if (client instanceof Redis) client.disconnect();
    else client.destroy();
  },
);
