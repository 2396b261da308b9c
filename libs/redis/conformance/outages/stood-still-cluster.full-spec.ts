import diagnostics from 'node:diagnostics_channel';
import type { AsyncRateLimiter } from '@ratelease/limiters';
import type { RedisPartitions, StoreEvent } from '../../src/index.js';
import { createRedisPartitions, STORE_CHANNEL } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLUSTER_CLIENTS } from '../../../../test/redis/clients.js';
import { RedisCluster } from '../../../../test/redis/redis-cluster.js';
import { amongSockets, standStill, written } from './standing-still.js';

const TIMEOUT_MS = 600;
const STILL_MS = 1.1 * TIMEOUT_MS;

let cluster: RedisCluster;
let keys: string[];
beforeAll(async () => {
  cluster = await RedisCluster.start();
  keys = await Promise.all([0, 1, 2].map((node) => cluster.keyOf(node)));
});
afterAll(() => cluster.stop());

describe.each(CLUSTER_CLIENTS)(
  'a process with a cluster that stands still, through $name',
  ({ open, name }) => {
    let opened: OpenClient;
    let shared: RedisPartitions;
    let limiters: AsyncRateLimiter[];
    let events: unknown[];
    const onEvent = (event: unknown): void => void events.push((event as StoreEvent).state);
    const askAll = async (): Promise<boolean[]> => {
      const leases = await Promise.all(limiters.map((limiter) => limiter.acquire()));
      return leases.map(({ isAcquired }) => isAcquired);
    };
    beforeEach(async () => {
      opened = await open(cluster.nodes[0]!.port);
      shared = createRedisPartitions({ client: opened.client, commandTimeoutMs: TIMEOUT_MS, prefix: name });
      limiters = keys.map((key) =>
        limiterOf(shared.getFixedWindowLimiter(key, () => ({ permitLimit: 99, windowMs: 60_000 }))),
      );
      events = [];
      diagnostics.subscribe(STORE_CHANNEL, onEvent);
      expect(await askAll()).toEqual([true, true, true]);
    });
    afterEach(async () => {
      diagnostics.unsubscribe(STORE_CHANNEL, onEvent);
      await shared.dispose();
      opened.close();
    });

    test('while the answers of all nodes come finds them when it goes on', async () => {
      const asked = askAll();
      await written(name);
      standStill(STILL_MS);
      expect(await asked).toEqual([true, true, true]);
      expect(events).toEqual([]);
    });

    test('and sends its questions when it goes on takes no node for lost', async () => {
      const [late] = await amongSockets(() => {
        const asked = askAll();
        standStill(STILL_MS);
        return [asked];
      });
      expect(await late).toEqual([false, false, false]);
      expect(await askAll()).toEqual([true, true, true]);
      expect(events).toEqual([]);
    });
  },
);
