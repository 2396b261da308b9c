import { setTimeout as after } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createRedisPartitions, STORE_UNAVAILABLE } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const EACH_MS = 10;
const LIMIT = 1_000_000;
const OPTIONS = { permitLimit: LIMIT, windowMs: 3_600_000, name: 'rate' };

let server: RedisServer;
let replica: RedisServer;
let proxy: CuttingProxy;
let opened: OpenClient;
beforeEach(async () => {
  server = await RedisServer.start('--repl-diskless-sync-delay', '0');
  replica = await RedisServer.start();
  proxy = await CuttingProxy.start(server.port);
});
afterEach(async () => {
  opened.close();
  proxy.stop();
  await server.stop();
  await replica.stop();
});

async function withAdmin<T>(of: RedisServer, use: (admin: Redis) => Promise<T>): Promise<T> {
  const admin = new Redis(of.port, '127.0.0.1');
  try {
    return await use(admin);
  } finally {
    admin.disconnect();
  }
}

/** How often a server was sent the text of a script. */
const textsOf = (of: RedisServer): Promise<number> =>
  withAdmin(of, async (admin) =>
    Number(/cmdstat_eval:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0),
  );

/** Permits that the server counts as taken. */
const usedOf = (of: RedisServer): Promise<number> =>
  withAdmin(of, async (admin) => {
    const fields = Object.entries(await admin.hgetall('ratelease:v1:{key}'));
    return Number(fields.find(([field]) => field.endsWith(':u'))?.[1] ?? 0);
  });

describe.each(CLIENTS)('asked a hundred times a second, through $name', ({ open }) => {
  test('a server is flushed, restarted and replaced: nothing fails, the scripts are told anew once each, and it counts on', async () => {
    opened = await open(proxy.port);
    const shared = createRedisPartitions({ client: opened.client, whenUnavailable: 'allow' });
    const rate = limiterOf(shared.getFixedWindowLimiter('key', () => OPTIONS));
    const slots = limiterOf(shared.getConcurrencyLimiter('slots', () => ({ permitLimit: 50 })));
    let counted = 0;
    let isOver = false;
    const asked: Promise<void>[] = [];
    const ask = async (): Promise<void> => {
      const lease = await rate.acquire();
      expect(lease.isAcquired).toBe(true);
      // Without a store it is granted too, but counted nowhere.
      if (lease.quota().length > 0) counted++;
      (await slots.acquire()).dispose();
    };
    const load = (async () => {
      while (!isOver) {
        asked.push(ask());
        // oxlint-disable-next-line no-await-in-loop -- a hundred a second
        await after(EACH_MS);
      }
    })();
    await after(1_000);
    const texts = await textsOf(server);
    await withAdmin(server, (admin) => admin.script('FLUSH', 'SYNC'));
    await after(1_000);
    // How to decide of each, and how to release.
    expect((await textsOf(server)) - texts).toBeLessThanOrEqual(4);
    await server.kill();
    await after(500);
    await server.start();
    await after(1_500);
    expect(await textsOf(server)).toBeLessThanOrEqual(8);
    await withAdmin(replica, async (admin) => {
      await admin.replicaof('127.0.0.1', String(server.port));
      // oxlint-disable-next-line no-await-in-loop -- until it is so
      while (!(await admin.info('replication')).includes('master_link_status:up')) await after(10);
      await admin.replicaof('NO', 'ONE');
    });
    proxy.turnTo(replica.port);
    await after(1_500);
    expect(await textsOf(replica)).toBeLessThanOrEqual(8);
    isOver = true;
    await load;
    await Promise.all(asked);
    expect(shared.isAvailable).toBe(true);
    const [ours, theirs] = [counted, await usedOf(replica)];
    expect(theirs).toBeGreaterThan(0);
    await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(counted - ours).toBe(20);
    expect(await usedOf(replica)).toBe(theirs + 20);
    await shared.dispose();
  });

  test('a hundred answers are lost with their connections, then the server for five seconds: what is granted is counted once, and what nobody got is given back', async () => {
    opened = await open(proxy.port);
    const shared = createRedisPartitions({ client: opened.client, commandTimeoutMs: 1_000 });
    const rate = limiterOf(shared.getFixedWindowLimiter('key', () => OPTIONS));
    const slots = limiterOf(
      shared.getConcurrencyLimiter('slots', () => ({ permitLimit: 1_000, leaseTtlMs: 2_000 })),
    );
    let granted = 0;
    const ask = async (): Promise<void> => {
      const lease = await rate.acquire();
      if (lease.isAcquired) granted++;
      else expect(lease.getMetadata('REASON_PHRASE')).toBe(STORE_UNAVAILABLE);
      (await slots.acquire()).dispose();
    };
    await ask();
    for (let lost = 1; lost <= 100; lost++) {
      proxy.swallowNext();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await Promise.all([ask(), ask(), ask()]);
    }
    proxy.silence();
    const asked: Promise<void>[] = [];
    for (let request = 0; request < 500; request++) {
      asked.push(ask());
      // oxlint-disable-next-line no-await-in-loop -- a hundred a second
      await after(EACH_MS);
    }
    await Promise.all(asked);
    proxy.cut();
    proxy.speak();
    // oxlint-disable-next-line no-await-in-loop -- until it is well
    while (!shared.isAvailable) await after(10);
    await ask();
    // What was granted to nobody goes back in the background.
    for (let tries = 0; tries < 100 && (await usedOf(server)) !== granted; tries++) await after(20);
    expect(proxy.swallowed).toBeGreaterThanOrEqual(100);
    expect(await usedOf(server)).toBe(granted);
    expect((await slots.acquire(1_000)).isAcquired).toBe(true);
    await shared.dispose();
  });
});
