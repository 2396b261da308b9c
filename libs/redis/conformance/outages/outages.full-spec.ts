import diagnostics from 'node:diagnostics_channel';
import { setTimeout as after } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import type { RedisPartitions, StoreEvent } from '../../src/index.js';
import { createRedisPartitions, STORE_CHANNEL, STORE_UNAVAILABLE } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { freePort } from '../../../../test/ports/free-port.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';

const TIMEOUT_MS = 100;
/** For what is not about time, also on a busy machine. */
const PATIENT = { commandTimeoutMs: 5_000 };
const LIMIT = { permitLimit: 10, windowMs: 3_600_000 };

describe.each(CLIENTS)('through $name', ({ open, name }) => {
  let server: RedisServer;
  let opened: OpenClient | undefined;
  beforeEach(async () => {
    server = await RedisServer.start();
  });
  afterEach(async () => {
    opened?.close();
    opened = undefined;
    await server.stop();
  });

  /** A client for the test itself. */
  async function openAdmin(): Promise<Redis> {
    opened = await CLIENTS[0]!.open(server.port);
    return opened.client as Redis;
  }

  async function withShared(
    use: (shared: RedisPartitions) => Promise<void>,
    options: object = {},
  ): Promise<void> {
    const { client, close } = await open(server.port);
    const shared = createRedisPartitions({ client, commandTimeoutMs: TIMEOUT_MS, ...options });
    try {
      await use(shared);
    } finally {
      await shared.dispose();
      close();
    }
  }

  test.each(['pause', 'kill'] as const)(
    '%s: each request is answered in time, and soon after it all is well',
    (what) =>
      withShared(async (shared) => {
        const limiter = limiterOf(shared.getFixedWindowLimiter('key', () => LIMIT));
        // The first command of a connection may take a busy machine long.
        // oxlint-disable-next-line no-await-in-loop -- until it is well
        while (!(await limiter.acquire()).isAcquired) await after(10);
        if (what === 'pause') server.pause();
        else await server.kill();
        let waited = 0;
        for (let request = 0; request < 20; request++) {
          const answer = limiter.acquire();
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          if (!(await isWithin(answer, 20))) waited++;
          // oxlint-disable-next-line no-await-in-loop
          expect(await isWithin(answer, TIMEOUT_MS + 30)).toBe(true);
          // oxlint-disable-next-line no-await-in-loop
          const lease = await answer;
          expect(lease.getMetadata('REASON_PHRASE')).toBe(STORE_UNAVAILABLE);
          expect(lease.getMetadata('RETRY_AFTER')).toBeUndefined();
        }
        // Only the first had to wait: the others knew.
        expect(waited).toBeLessThan(3);
        if (what === 'pause') server.resume();
        else await server.start();
        const backMs = performance.now();
        // oxlint-disable-next-line no-await-in-loop -- until it is well
        while (!(await limiter.acquire()).isAcquired) await after(10);
        expect(performance.now() - backMs).toBeLessThan(1_500);
      }),
  );

  test('scripts that the server has forgotten are sent again, and counts go on', () =>
    withShared(async (shared) => {
      const limiter = limiterOf(shared.getFixedWindowLimiter('key', () => LIMIT));
      const admin = await openAdmin();
      for (let round = 0; round < 5; round++) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const [lease, another] = await Promise.all([
          limiter.acquire(),
          limiter.acquire(),
          admin.script('FLUSH', 'SYNC'),
        ]);
        expect(lease.isAcquired && another.isAcquired).toBe(true);
      }
      expect((await limiter.acquire()).isAcquired).toBe(false);
    }, PATIENT));

  test('a server that is full or read-only is no limit: the policy answers, and it is well when the server is', () =>
    withShared(async (shared) => {
      const limiter = limiterOf(shared.getFixedWindowLimiter('key', () => LIMIT));
      const admin = await openAdmin();
      await admin.config('SET', 'maxmemory', '1');
      expect((await limiter.acquire()).getMetadata('REASON_PHRASE')).toBe(STORE_UNAVAILABLE);
      await admin.config('SET', 'maxmemory', '0');
      expect((await limiter.acquire()).isAcquired).toBe(true);
      await admin.replicaof('127.0.0.1', await freePort());
      expect((await limiter.acquire()).getMetadata('REASON_PHRASE')).toBe(STORE_UNAVAILABLE);
      await admin.replicaof('NO', 'ONE');
      expect((await limiter.acquire()).isAcquired).toBe(true);
    }, PATIENT));

  test('without a store each limiter answers as it was told, and says so', () =>
    withShared(
      async (shared) => {
        const events: StoreEvent[] = [];
        const listener = (event: unknown): void => void events.push(event as StoreEvent);
        diagnostics.subscribe(STORE_CHANNEL, listener);
        const allow = limiterOf(
          shared.getFixedWindowLimiter('key', () => ({ ...LIMIT, whenUnavailable: 'allow' as const })),
        );
        const local = limiterOf(shared.getFixedWindowLimiter('key', () => LIMIT));
        await local.acquire();
        await server.kill();
        expect((await allow.acquire()).isAcquired).toBe(true);
        const granted = await Promise.all(Array.from({ length: 12 }, () => local.acquire()));
        expect(granted.filter((lease) => lease.isAcquired).length).toBe(5);
        expect(granted.at(-1)!.getMetadata('RETRY_AFTER')).toBeGreaterThan(0);
        await server.start();
        // oxlint-disable-next-line no-await-in-loop -- until it is well
        while (!shared.isAvailable) await after(10);
        diagnostics.unsubscribe(STORE_CHANNEL, listener);
        expect(events.map(({ state }) => state)).toEqual(['unavailable', 'available']);
      },
      { whenUnavailable: 'local', instances: 2, prefix: `answers-${name}` },
    ));
});

test.each(['ioredis', 'node-redis'])(
  'an application of %s boots without a server, and begins to count with it',
  async (kind) => {
    const port = await freePort();
    const client =
      kind === 'ioredis' ? new Redis(port, '127.0.0.1') : createClient({ url: `redis://127.0.0.1:${port}` });
    const shared = createRedisPartitions({ client, commandTimeoutMs: TIMEOUT_MS });
    const limiter = limiterOf(shared.getFixedWindowLimiter('key', () => LIMIT));
    let server: RedisServer | undefined;
    try {
      const answer = limiter.acquire();
      expect(await isWithin(answer, TIMEOUT_MS + 50)).toBe(true);
      expect((await answer).getMetadata('REASON_PHRASE')).toBe(STORE_UNAVAILABLE);
      server = await RedisServer.start('--port', String(port));
      // oxlint-disable-next-line no-await-in-loop -- until it is well
      while (!(await limiter.acquire()).isAcquired) await after(20);
    } finally {
      await shared.dispose();
      if (client instanceof Redis) client.disconnect();
      else client.destroy();
      await server?.stop();
    }
  },
);

/** Whether it is there before a timer of this process: what holds one up holds up the other. */
function isWithin(awaited: Promise<unknown>, ms: number): Promise<boolean> {
  return Promise.race([awaited.then(() => true), after(ms, false)]);
}
