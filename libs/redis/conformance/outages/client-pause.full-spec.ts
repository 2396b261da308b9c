import { setTimeout as after } from 'node:timers/promises';
import type { AsyncRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import type { Redis } from 'ioredis';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions, STORE_UNAVAILABLE } from '../../src/index.js';
import { Overtime } from './overtime.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import type { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { ProxiedServer } from '../../../../test/redis/proxied-server.js';

const TIMEOUT_MS = 100;
const SLACK_MS = 50;
const OUTAGE_MS = 2_000;
const LIMIT = { permitLimit: 100_000, windowMs: 3_600_000 };

let proxied: ProxiedServer;
let proxy: CuttingProxy;
let admin: Redis;
beforeAll(async () => {
  proxied = await ProxiedServer.start();
  ({ proxy, admin } = proxied);
});
afterAll(() => proxied.stop());

/** How the server is lost for a time, and comes back by itself. */
const OUTAGES: Record<string, () => Promise<void>> = {
  'CLIENT PAUSE WRITE': async () => {
    await admin.call('CLIENT', 'PAUSE', OUTAGE_MS, 'WRITE');
    await after(OUTAGE_MS);
  },
  'CLIENT PAUSE ALL': async () => {
    await admin.call('CLIENT', 'PAUSE', OUTAGE_MS, 'ALL');
    await after(OUTAGE_MS);
  },
  'packets that are held up, and come': async () => {
    proxy.silence();
    await after(OUTAGE_MS);
    proxy.speak();
  },
  'packets that are lost with their connections': async () => {
    proxy.silence();
    await after(OUTAGE_MS);
    proxy.cut();
    proxy.speak();
  },
};

describe.each(CLIENTS)('through $name', ({ open, name }) => {
  let opened: OpenClient;
  let shared: RedisPartitions;
  let rounds = 0;
  beforeEach(async () => {
    opened = await open(proxy.port);
    rounds++;
    shared = createRedisPartitions({
      ...{ client: opened.client, prefix: `${name}-${rounds}`, commandTimeoutMs: TIMEOUT_MS },
    });
  });
  afterEach(async () => {
    await shared.dispose();
    opened.close();
  });

  test.each(Object.entries(OUTAGES))(
    '%s: three policies are answered in the time of one, soon it is well, and nothing is charged for nothing',
    async (_what, outage) => {
      const policies = ['user', 'tenant', 'all'].map((key) =>
        createPartitionedRateLimiter(() => shared.getFixedWindowLimiter(key, () => LIMIT)),
      );
      const chain = createChainedPartitionedRateLimiter(...policies);
      const limiters = ['user', 'tenant', 'all'].map((key): AsyncRateLimiter =>
        limiterOf(shared.getFixedWindowLimiter(key, () => LIMIT)),
      );
      // The first command of a connection may take a busy machine long.
      // oxlint-disable-next-line no-await-in-loop -- until it is well
      while (!(await chain.acquire(undefined, 0)).isAcquired) await after(10);
      let granted = 0;
      const overtime = new Overtime(TIMEOUT_MS);
      let lastAwayMs = 0;
      let isOver = false;
      const asked: Promise<void>[] = [];
      const ask = async (): Promise<void> => {
        const lease: RateLimitLease = await overtime.of(() => chain.acquire(undefined));
        if (lease.isAcquired) granted++;
        else {
          expect(lease.getMetadata('REASON_PHRASE')).toBe(STORE_UNAVAILABLE);
          lastAwayMs = performance.now();
        }
      };
      const load = (async () => {
        while (!isOver) {
          asked.push(ask());
          // oxlint-disable-next-line no-await-in-loop -- fifty a second
          await after(20);
        }
      })();
      await after(200);
      await outage();
      const backMs = performance.now();
      await after(1_500);
      isOver = true;
      await load;
      await Promise.all(asked);
      expect(overtime.mostMs).toBeLessThan(SLACK_MS);
      expect(lastAwayMs).toBeGreaterThan(0);
      expect(lastAwayMs - backMs).toBeLessThan(1_000);
      // What was granted too late, or before another policy had no answer, was given back.
      const left = async (): Promise<number[]> =>
        Promise.all(limiters.map(async (limiter) => (await limiter.acquire(0)).quota()[0]!.remaining));
      const expected = limiters.map(() => LIMIT.permitLimit - granted);
      for (let tries = 0; tries < 50 && (await left()).join() !== expected.join(); tries++) await after(20);
      expect(await left()).toEqual(expected);
      void chain.dispose();
    },
  );
});
