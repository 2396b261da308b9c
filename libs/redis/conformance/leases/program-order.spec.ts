import type { AsyncRateLimiter } from '@ratelease/limiters';
import type { Redis } from 'ioredis';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import type { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { ProxiedServer } from '../../../../test/redis/proxied-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { hold } from './hold.js';

let proxied: ProxiedServer;
let proxy: CuttingProxy;
let admin: Redis;
beforeAll(async () => {
  proxied = await ProxiedServer.start();
  ({ proxy, admin } = proxied);
});
afterAll(() => proxied.stop());

describe.each(CLIENTS)(
  'what a process gives back it finds free when it asks next, through $name',
  (client) => {
    let opened: OpenClient;
    let shared: RedisPartitions;
    let keys = 0;
    beforeEach(async () => {
      opened = await client.open(proxy.port);
      shared = createRedisPartitions({
        client: opened.client,
        commandTimeoutMs: 10_000,
        prefix: client.name,
      });
      keys++;
    });
    afterEach(async () => {
      proxy.delayMs = 0;
      await shared.dispose();
      opened.close();
    });

    const slotsOf = (key: string, permitLimit: number): AsyncRateLimiter =>
      limiterOf(shared.getConcurrencyLimiter(key, () => ({ permitLimit })));

    const isReady = (): boolean => {
      const { status, isReady: isUp } = opened.client as { status?: string; isReady?: boolean };
      return isUp ?? status === 'ready';
    };

    /** Until the client has noticed. */
    async function untilAway(): Promise<void> {
      // oxlint-disable-next-line no-await-in-loop -- turn by turn
      while (isReady()) await new Promise(setImmediate);
    }

    async function untilReady(): Promise<void> {
      // oxlint-disable-next-line no-await-in-loop -- turn by turn
      while (!isReady()) await new Promise(setImmediate);
    }

    test('while another release is on its way', async () => {
      const slots = slotsOf(`on its way ${keys}`, 3);
      const leases = await hold(slots, 3);
      proxy.delayMs = 30;
      for (const lease of leases) {
        lease.dispose();
        // oxlint-disable-next-line no-await-in-loop -- in turns of their own
        await new Promise(setImmediate);
      }
      expect((await slots.acquire(3)).isAcquired).toBe(true);
    });

    test('within a turn in which something was asked for before', async () => {
      const slots = slotsOf(`a turn ${keys}`, 1);
      const lease = await slots.acquire();
      const before = slotsOf(`another ${keys}`, 1).acquire();
      lease.dispose();
      expect((await slots.acquire()).isAcquired).toBe(true);
      await before;
    });

    test('where so much is asked that the first of it is sent before the turn is over', async () => {
      const slots = slotsOf(`so much ${keys}`, 1);
      const others = Array.from({ length: 100 }, (_, index) => slotsOf(`so much ${keys} ${index}`, 1));
      const lease = await slots.acquire();
      lease.dispose();
      const asked = [slots, ...others].map((limiter) => limiter.acquire());
      expect((await asked[0]!).isAcquired).toBe(true);
      await Promise.all(asked);
    });

    test('where the server does not know yet how to release', async () => {
      await admin.script('FLUSH', 'SYNC');
      const slots = slotsOf(`not known ${keys}`, 1);
      const lease = await slots.acquire();
      lease.dispose();
      expect((await slots.acquire()).isAcquired).toBe(true);
    });

    test('where the server has forgotten how to release', async () => {
      const slots = slotsOf(`forgotten ${keys}`, 1);
      (await slots.acquire()).dispose();
      const lease = await slots.acquire();
      await admin.script('FLUSH', 'SYNC');
      await slots.acquire(0);
      lease.dispose();
      expect((await slots.acquire()).isAcquired).toBe(true);
    });

    test('where another process has told the server how to decide, but not how to release', async () => {
      const slots = slotsOf(`told by another ${keys}`, 1);
      (await slots.acquire()).dispose();
      const lease = await slots.acquire();
      proxy.cut();
      await untilAway();
      await admin.script('FLUSH', 'SYNC');
      const other = createRedisPartitions({ client: admin, commandTimeoutMs: 10_000, prefix: 'other' });
      await limiterOf(other.getConcurrencyLimiter('slots', () => ({ permitLimit: 1 }))).acquire(0);
      await untilReady();
      lease.dispose();
      expect((await slots.acquire()).isAcquired).toBe(true);
      await other.dispose();
    });

    test('after the connection was away', async () => {
      const slots = slotsOf(`away ${keys}`, 1);
      const lease = await slots.acquire();
      proxy.cut();
      await untilAway();
      lease.dispose();
      expect((await slots.acquire()).isAcquired).toBe(true);
    });
  },
);
