import { setTimeout as after } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';

const LIMIT = 50;

let master: RedisServer;
let replica: RedisServer;
let proxy: CuttingProxy;
let admin: Redis;
let close: () => void;
let shared: RedisPartitions;

async function begin(open: (typeof CLIENTS)[number]['open']): Promise<void> {
  // Without waiting for more replicas first.
  master = await RedisServer.start('--repl-diskless-sync-delay', '0');
  replica = await RedisServer.start('--replicaof', '127.0.0.1', String(master.port));
  admin = new Redis(replica.port, '127.0.0.1');
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (!(await admin.info('replication')).includes('master_link_status:up')) await after(10);
  proxy = await CuttingProxy.start(master.port);
  const opened = await open(proxy.port);
  close = opened.close;
  shared = createRedisPartitions({ client: opened.client, commandTimeoutMs: 5_000 });
}

/** The replica takes the master's place, with what it has. */
async function promote(): Promise<void> {
  await admin.replicaof('NO', 'ONE');
  proxy.turnTo(replica.port);
}

afterEach(async () => {
  await shared.dispose();
  close();
  proxy.stop();
  admin.disconnect();
  await master.stop();
  await replica.stop();
});

const window = () =>
  limiterOf(shared.getFixedWindowLimiter('key', () => ({ permitLimit: LIMIT, windowMs: 3_600_000 })));

async function grantedOf(times: number): Promise<number> {
  const limiter = window();
  const leases = await Promise.all(Array.from({ length: times }, () => limiter.acquire()));
  return leases.filter((lease) => lease.isAcquired).length;
}

async function replicated(): Promise<void> {
  const main = new Redis(master.port, '127.0.0.1');
  await main.set('mark', '1');
  main.disconnect();
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while ((await admin.get('mark')) === null) await after(2);
}

describe.each(CLIENTS)('through $name, when a replica takes the place of its master', ({ open }) => {
  beforeEach(() => begin(open));

  test('what it has counts on', async () => {
    expect(await grantedOf(30)).toBe(30);
    await replicated();
    await promote();
    expect(await grantedOf(LIMIT)).toBe(LIMIT - 30);
  });

  test('what it has not is granted once more, and no more than that', async () => {
    expect(await grantedOf(10)).toBe(10);
    await replicated();
    // From here on it hears nothing.
    await admin.replicaof('127.0.0.1', '1');
    expect(await grantedOf(LIMIT)).toBe(LIMIT - 10);
    await promote();
    expect(await grantedOf(2 * LIMIT)).toBe(LIMIT - 10);
    expect(await grantedOf(LIMIT)).toBe(0);
  });

  test('what its master refused to take back, being one no more, is free before anything is asked', async () => {
    const slots = limiterOf(shared.getConcurrencyLimiter('slots', () => ({ permitLimit: 1 })));
    const lease = (await slots.acquire()) as RemoteLease;
    await replicated();
    const demoted = new Redis(master.port, '127.0.0.1');
    await demoted.replicaof('127.0.0.1', '1');
    demoted.disconnect();
    // Refused, as all that writes is.
    await lease[Symbol.asyncDispose]();
    await promote();
    expect((await slots.acquire()).isAcquired).toBe(true);
  });

  test('what a replica refused to take back is free before anything is asked of it as a master', async () => {
    const slots = limiterOf(shared.getConcurrencyLimiter('slots', () => ({ permitLimit: 1 })));
    const lease = (await slots.acquire()) as RemoteLease;
    const main = new Redis(master.port, '127.0.0.1');
    await main.replicaof('127.0.0.1', '1');
    await lease[Symbol.asyncDispose]();
    await main.replicaof('NO', 'ONE');
    main.disconnect();
    expect((await slots.acquire()).isAcquired).toBe(true);
  });

  test('a lease that it has not is lost, and its holder learns it', async () => {
    const slots = limiterOf(
      shared.getConcurrencyLimiter('slots', () => ({ permitLimit: 1, queueLimit: 5, leaseTtlMs: 1_000 })),
    );
    await admin.replicaof('127.0.0.1', '1');
    const lease = (await slots.acquire()) as RemoteLease;
    const waiting = slots.acquire();
    const lost = new Promise((resolve) => lease.signal.addEventListener('abort', resolve, { once: true }));
    await promote();
    await lost;
    expect(lease.signal.reason).toMatchObject({ code: 'ERR_RL_LEASE_LOST' });
    expect((await waiting).isAcquired).toBe(true);
  });
});
