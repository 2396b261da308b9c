import { setTimeout as after } from 'node:timers/promises';
import type { AsyncRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { Redis } from 'ioredis';
import { createSentinel } from 'redis';
import { createRedisPartitions, STORE_UNAVAILABLE } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { Overtime } from './overtime.js';
import { RedisSentinel } from '../../../../test/redis/redis-sentinel.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';

const LIMIT = 1_000;
const TIMEOUT_MS = 150;
const SLACK_MS = 100;
const LONGEST_OUTAGE_MS = 10_000;

let master: RedisServer;
let replica: RedisServer;
let sentinel: RedisSentinel;
/** Ends what a test has opened, also where an expectation has failed: clients that go on would keep Jest. */
let end: (() => Promise<void>) | undefined;
beforeEach(async () => {
  // Without waiting for more replicas first.
  master = await RedisServer.start('--repl-diskless-sync-delay', '0');
  replica = await RedisServer.start('--replicaof', '127.0.0.1', String(master.port));
  await untilReplicated();
  sentinel = await RedisSentinel.start(master.port, 500);
  await untilWatched();
});
afterEach(async () => {
  await end?.();
  end = undefined;
  await sentinel.stop();
  await replica.stop();
  await master.stop();
});

const CLIENTS = [
  {
    name: 'ioredis',
    open: async () => {
      const client = new Redis({
        sentinels: [{ host: '127.0.0.1', port: sentinel.port }],
        name: sentinel.name,
      });
      await client.ping();
      return { client, close: () => client.disconnect() };
    },
  },
  {
    name: 'node-redis',
    open: async () => {
      const client = createSentinel({
        name: sentinel.name,
        sentinelRootNodes: [{ host: '127.0.0.1', port: sentinel.port }],
      });
      client.on('error', () => undefined);
      await client.connect();
      return { client, close: () => void client.destroy() };
    },
  },
];

describe.each(CLIENTS)('a failover by a sentinel, through $name', ({ open }) => {
  test.each(['a wish', 'a crash'])(
    'by %s: all are answered in time, and at most one limit is granted twice',
    async (why) => {
      const { client, close } = await open();
      const shared = createRedisPartitions({ client, commandTimeoutMs: TIMEOUT_MS });
      end = async () => {
        await shared.dispose();
        close();
      };
      const limiter = limiterOf(
        shared.getFixedWindowLimiter('key', () => ({ permitLimit: LIMIT, windowMs: 600_000 })),
      );
      const slots = limiterOf(
        shared.getConcurrencyLimiter('slots', () => ({
          permitLimit: 1,
          queueLimit: 1,
          leaseTtlMs: 2 * LONGEST_OUTAGE_MS,
        })),
      );
      // The first command of a connection may take a busy machine long.
      // oxlint-disable-next-line no-await-in-loop -- until it is well
      while (!(await limiter.acquire(0)).isAcquired) await after(10);
      const held = await acquired(slots);
      const waiting = await waitingFor(slots);
      let granted = 0;
      const overtime = new Overtime(TIMEOUT_MS);
      let lastAway = 0;
      const beganMs = performance.now();
      const ask = async (): Promise<void> => {
        const lease = await overtime.of(() => limiter.acquire());
        if (lease.isAcquired) granted++;
        else if (isUnavailable(lease)) lastAway = performance.now();
      };
      const asked: Promise<void>[] = [];
      let failedOver = false;
      while (performance.now() - beganMs < LONGEST_OUTAGE_MS) {
        asked.push(ask());
        // oxlint-disable-next-line no-await-in-loop -- two hundred a second
        await after(5);
        if (!failedOver && granted >= 100) {
          failedOver = true;
          // oxlint-disable-next-line no-await-in-loop
          await failOver(why);
        }
        if (failedOver && lastAway > 0 && performance.now() - lastAway > 1_500) break;
      }
      await Promise.all(asked);
      expect(overtime.mostMs).toBeLessThan(SLACK_MS);
      // It is well again without a restart.
      expect((await limiter.acquire(0)).getMetadata('REASON_PHRASE')).not.toBe(STORE_UNAVAILABLE);
      expect(granted).toBeGreaterThan(150);
      expect(granted).toBeLessThanOrEqual(2 * LIMIT);
      // Whoever waited for it is served, by the message of the new master or because the lease was lost. His place lasts
      // longer than the outage; one that does not is answered without the store, see silent-server.spec.ts.
      held.dispose();
      expect((await waiting.lease).getMetadata('REASON_PHRASE')).toBe(undefined);
      expect(await roleOf(replica)).toBe('master');
    },
  );
});

/** A request that is not answered in time is asked again: the first ones of a connection may take a busy machine long. */
async function acquired(limiter: AsyncRateLimiter): Promise<RateLimitLease> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- until there is an answer
    const lease = await limiter.acquire();
    if (lease.isAcquired) return lease;
  }
}

/** A request that stands in the queue, of which the replica knows too. */
async function waitingFor(limiter: AsyncRateLimiter): Promise<{ readonly lease: Promise<RateLimitLease> }> {
  for (;;) {
    let isAnswered = false;
    const lease = limiter.acquire().finally(() => (isAnswered = true));
    // oxlint-disable-next-line no-await-in-loop -- its answer is here, if it comes in time, once that of a later one is
    while (isUnavailable(await limiter.acquire(0, { maxWaitMs: 0 }))) await after(10);
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while (!isAnswered) if ((await keysOfReplica('*:queue')).length > 0) return { lease };
  }
}

function isUnavailable(lease: RateLimitLease): boolean {
  return lease.getMetadata('REASON_PHRASE') === STORE_UNAVAILABLE;
}

async function keysOfReplica(pattern: string): Promise<string[]> {
  const admin = new Redis(replica.port, '127.0.0.1');
  const keys = await admin.keys(pattern);
  admin.disconnect();
  return keys;
}

async function failOver(why: string): Promise<void> {
  if (why === 'a crash') return master.kill();
  const admin = new Redis(sentinel.port, '127.0.0.1');
  await admin.call('SENTINEL', 'FAILOVER', sentinel.name);
  admin.disconnect();
}

async function roleOf({ port }: RedisServer): Promise<string | undefined> {
  const admin = new Redis(port, '127.0.0.1');
  const info = await admin.info('replication');
  admin.disconnect();
  return /^role:(\w+)/m.exec(info)?.[1];
}

async function untilReplicated(): Promise<void> {
  await untilInfo(replica.port, 'replication', 'master_link_status:up');
}

async function untilWatched(): Promise<void> {
  await untilInfo(sentinel.port, 'sentinel', 'slaves=1');
}

async function untilInfo(port: number, section: string, text: string): Promise<void> {
  const admin = new Redis(port, '127.0.0.1');
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (!(await admin.info(section)).includes(text)) await after(20);
  admin.disconnect();
}
