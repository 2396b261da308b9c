import { setTimeout as after } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createRedisPartitions } from '../../src/index.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

let server: RedisServer;
let admin: Redis;
beforeAll(async () => {
  server = await RedisServer.start();
  admin = new Redis(server.port, '127.0.0.1');
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

const allow = (...rules: string[]): Promise<unknown> => admin.call('ACL', 'SETUSER', 'default', ...rules);

describe.each(CLIENTS)('scripts that are stopped half-way, through $name', ({ open, name }) => {
  test.each(['hset', 'zrange', 'zscore', 'zadd'])(
    'as %s is not allowed for a time, cost no permit of a limiter in use for longer than to a renewal',
    async (command) => {
      const { client, close } = await open(server.port);
      const shared = createRedisPartitions({ client, prefix: name, commandTimeoutMs: 10_000 });
      const slots = limiterOf(
        shared.getConcurrencyLimiter(command, () => ({
          ...{ permitLimit: 3, queueLimit: 3, leaseTtlMs: 1_000 },
        })),
      );
      const [held, ...others] = await Promise.all([slots.acquire(), slots.acquire(), slots.acquire()]);
      const waiting = slots.acquire(1, { maxWaitMs: 3_000 });
      await slots.acquire(0, { maxWaitMs: 0 });
      await allow(`-${command}`);
      for (const lease of others) lease.dispose();
      await slots.acquire(0, { maxWaitMs: 0 });
      await allow('+@all');
      // One is held all the time, and one goes to who waits.
      const sinceMs = performance.now();
      expect((await waiting).isAcquired).toBe(true);
      let last = await slots.acquire(1, { maxWaitMs: 0 });
      while (!last.isAcquired && performance.now() - sinceMs < 3_000) {
        // oxlint-disable-next-line no-await-in-loop -- until it is so
        await after(20);
        // oxlint-disable-next-line no-await-in-loop
        last = await slots.acquire(1, { maxWaitMs: 0 });
      }
      expect(last.isAcquired).toBe(true);
      expect((await slots.acquire(1, { maxWaitMs: 0 })).isAcquired).toBe(false);
      held.dispose();
      await shared.dispose();
      close();
    },
  );
});
