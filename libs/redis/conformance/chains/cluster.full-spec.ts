import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { RedisCluster } from '../../../../test/redis/redis-cluster.js';

const HOUR = 3_600_000;
const CLIENTS = [
  {
    name: 'ioredis',
    open: async (port: number) => {
      const client = new Cluster([{ host: '127.0.0.1', port }], { redisOptions: {} });
      await client.ping();
      return { client, close: () => client.disconnect() };
    },
  },
  {
    name: 'ioredis with a prefix of its own',
    open: async (port: number) => {
      const client = new Cluster([{ host: '127.0.0.1', port }], { keyPrefix: 'app:' });
      await client.ping();
      return { client, close: () => client.disconnect() };
    },
  },
  {
    name: 'node-redis',
    open: async (port: number) => {
      const client = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] });
      client.on('error', () => undefined);
      await client.connect();
      return { client, close: () => client.destroy() };
    },
  },
];

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await RedisCluster.start();
});
afterAll(() => cluster.stop());

describe.each(CLIENTS)('a cluster through $name', ({ name, open }) => {
  let shared: RedisPartitions;
  let close: () => void;
  beforeAll(async () => {
    const opened = await open(cluster.nodes[0]!.port);
    close = opened.close;
    shared = createRedisPartitions({
      client: opened.client,
      commandTimeoutMs: 2_000,
      prefix: name.replaceAll(' ', '-'),
    });
  });
  afterAll(async () => {
    await shared.dispose();
    close();
  });

  test('counts exactly in each partition, whatever its key contains', async () => {
    const keys = [
      'a',
      '{b}',
      '}{',
      'a b\u0000',
      '',
      '{',
      1,
      true,
      ...Array.from({ length: 20 }, (_, index) => `user-${index}`),
    ];
    const granted = await Promise.all(
      keys.map(async (key) => {
        const limiter = limiterOf(
          shared.getFixedWindowLimiter(key as string, () => ({ permitLimit: 3, windowMs: HOUR })),
        );
        const leases = await Promise.all(Array.from({ length: 5 }, () => limiter.acquire()));
        return leases.filter((lease) => lease.isAcquired).length;
      }),
    );
    expect(granted).toEqual(keys.map(() => 3));
  });

  test('decides all limiters of a partition in one script, in one slot', async () => {
    const chain = createChainedPartitionedRateLimiter<string>(
      createPartitionedRateLimiter((key: string) =>
        shared.getSlidingWindowLimiter(key, () => ({ permitLimit: 9, windowMs: HOUR, segmentsPerWindow: 3 })),
      ),
      createPartitionedRateLimiter((key: string) =>
        shared.getTokenBucketLimiter(key, () => ({
          tokenLimit: 9,
          tokensPerPeriod: 1,
          replenishmentPeriodMs: HOUR,
        })),
      ),
      createPartitionedRateLimiter((key: string) =>
        shared.getConcurrencyLimiter(key, () => ({ permitLimit: 5, queueLimit: 1 })),
      ),
    );
    for (const key of ['one', 'two', 'three', '{four}']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const leases = await Promise.all([chain.acquire(key, 4), chain.acquire(key, 0)]);
      expect(leases[0].isAcquired).toBe(true);
    }
    void chain.dispose();
  });

  test('hands a lease over to a waiter, whichever node the partition is on', async () => {
    for (const key of ['one', 'two', 'three', 'four', 'five']) {
      const limiter = limiterOf(
        shared.getConcurrencyLimiter(`queue-${key}`, () => ({ permitLimit: 1, queueLimit: 2 })),
      );
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const lease = await limiter.acquire();
      const waiting = limiter.acquire();
      const beganMs = performance.now();
      lease.dispose();
      // oxlint-disable-next-line no-await-in-loop
      (await waiting).dispose();
      expect(performance.now() - beganMs).toBeLessThan(2_000);
    }
  });

  test('a node that has forgotten its scripts is sent them again', async () => {
    for (const { port } of cluster.nodes) {
      const admin = new Redis(port, '127.0.0.1');
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await admin.script('FLUSH', 'SYNC');
      admin.disconnect();
    }
    const leases = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        limiterOf(
          shared.getFixedWindowLimiter(`flushed-${index}`, () => ({ permitLimit: 3, windowMs: HOUR })),
        ).acquire(),
      ),
    );
    expect(leases.every((lease) => lease.isAcquired)).toBe(true);
  });
});
