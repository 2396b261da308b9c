import type { AsyncRateLimiter } from '@ratelease/limiters';
import { Redis } from 'ioredis';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLUSTER_CLIENTS } from '../../../../test/redis/clients.js';
import { RedisCluster } from '../../../../test/redis/redis-cluster.js';
import { limiterOf } from '../oracle/limiter-pair.js';

let cluster: RedisCluster;
let admins: Redis[];
beforeAll(async () => {
  cluster = await RedisCluster.start();
  admins = cluster.nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
});
afterAll(async () => {
  for (const admin of admins) admin.disconnect();
  await cluster.stop();
});

describe.each(CLUSTER_CLIENTS)(
  'what a process gives back it finds free when it asks next, in a cluster through $name',
  (client) => {
    let opened: OpenClient;
    let shared: RedisPartitions;
    beforeEach(async () => {
      await Promise.all(admins.map((admin) => admin.script('FLUSH', 'SYNC')));
      opened = await client.open(cluster.nodes[0]!.port);
      shared = createRedisPartitions({
        client: opened.client,
        commandTimeoutMs: 10_000,
        prefix: client.name,
      });
    });
    afterEach(async () => {
      await shared.dispose();
      opened.close();
    });

    const slotOn = async (node: number): Promise<AsyncRateLimiter> =>
      limiterOf(shared.getConcurrencyLimiter(await cluster.keyOf(node), () => ({ permitLimit: 1 })));

    test('where the node knows how to decide, and another one how to release', async () => {
      const slots = [await slotOn(0), await slotOn(1), await slotOn(2)];
      const leases = await Promise.all(slots.map((one) => one.acquire()));
      for (const [node, lease] of leases.entries()) {
        lease.dispose();
        // oxlint-disable-next-line no-await-in-loop -- one node after the other
        expect((await slots[node]!.acquire()).isAcquired).toBe(true);
      }
    });

    test('where a connection is lost while both are on their way', async () => {
      const slots = await slotOn(1);
      (await slots.acquire()).dispose();
      const lease = await slots.acquire();
      const admin = admins[1]!;
      await admin.call('CLIENT', 'PAUSE', 10_000, 'WRITE');
      lease.dispose();
      const asked = slots.acquire();
      while (!/blocked_clients:[1-9]/.test(await admin.info('clients')))
        // oxlint-disable-next-line no-await-in-loop -- until both have arrived
        await new Promise(setImmediate);
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await admin.call('CLIENT', 'UNPAUSE');
      const next = await asked;
      expect(next.isAcquired).toBe(true);
      next.dispose();
    });
  },
);
