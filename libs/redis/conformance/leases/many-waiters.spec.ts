import { setTimeout as after } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';
import { scriptCalls } from '../../../../test/redis/script-calls.js';

const PROCESSES = 3;
const JOBS_OF_EACH = 50;

test.each([
  ['one at a time', 1],
  ['five at a time', 5],
])(
  '%s of many who wait in several processes: never more, all done, without polling',
  async (_what, permitLimit) => {
    const server = await RedisServer.start();
    const admin = new Redis(server.port, '127.0.0.1');
    const clients = await Promise.all(
      Array.from({ length: PROCESSES }, (_, index) => CLIENTS[index % CLIENTS.length]!.open(server.port)),
    );
    const options = { permitLimit, queueLimit: PROCESSES * JOBS_OF_EACH, leaseTtlMs: 5_000 };
    const partitions = clients.map(({ client }) =>
      createRedisPartitions({ client, prefix: 'jobs', commandTimeoutMs: 10_000 }),
    );
    let working = 0;
    let most = 0;
    let done = 0;
    const limiters = partitions.map((one) => limiterOf(one.getConcurrencyLimiter('job', () => options)));
    await Promise.all(
      limiters.flatMap((limiter) =>
        Array.from({ length: JOBS_OF_EACH }, async (_, index) => {
          const lease = await limiter.acquire();
          expect(lease.isAcquired).toBe(true);
          most = Math.max(most, ++working);
          await after(index % 3);
          working--;
          done++;
          lease.dispose();
        }),
      ),
    );
    await Promise.all(partitions.map((one) => one.dispose()));
    expect(most).toBeLessThanOrEqual(permitLimit);
    expect(done).toBe(PROCESSES * JOBS_OF_EACH);
    const scripts = await scriptCalls(admin);
    // One to ask, one to give back, and now and then one that renews them all.
    expect(scripts / done).toBeLessThan(3);
    const fields = Object.entries(await admin.hgetall('jobs:v1:{job}'));
    expect(fields.filter(([name]) => /:[uqw]$/.test(name)).map(([, value]) => value)).toEqual([
      '0',
      '0',
      '0',
    ]);
    for (const { close } of clients) close();
    admin.disconnect();
    await server.stop();
  },
);
