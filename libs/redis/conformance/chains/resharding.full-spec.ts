import { setTimeout as after } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { CLUSTER_CLIENTS } from '../../../../test/redis/clients.js';
import { RedisCluster } from '../../../../test/redis/redis-cluster.js';

const LIMIT = 3_000;

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await RedisCluster.start();
});
afterAll(() => cluster.stop());

describe.each(CLUSTER_CLIENTS)('the slot of a key in use moves, through $name', ({ open, name }) => {
  let shared: RedisPartitions;
  let close: () => void;
  let key: string;
  let slot: number;
  beforeEach(async () => {
    const opened = await open(cluster.nodes[1]!.port);
    close = opened.close;
    shared = createRedisPartitions({ client: opened.client, commandTimeoutMs: 5_000, prefix: name });
    key = await cluster.keyOf(0);
    const admin = new Redis(cluster.nodes[1]!.port, '127.0.0.1');
    slot = await admin.cluster('KEYSLOT', key);
    admin.disconnect();
  });
  afterEach(async () => {
    await shared.dispose();
    close();
    // For the next ones the slot is where it was.
    await cluster.move(slot, 2, 0);
  });

  test('each decision is made once, before, while and after it moves', async () => {
    const rates = [
      limiterOf(shared.getFixedWindowLimiter(key, () => ({ permitLimit: LIMIT, windowMs: 3_600_000 }))),
      limiterOf(
        shared.getTokenBucketLimiter(key, () => ({
          ...{ tokenLimit: LIMIT, tokensPerPeriod: 1, replenishmentPeriodMs: 3_600_000 },
        })),
      ),
    ];
    let asked = 0;
    let isOver = false;
    const loops = rates.flatMap((rate) =>
      Array.from({ length: 5 }, async () => {
        while (!isOver) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          expect((await rate.acquire()).isAcquired).toBe(true);
          asked++;
          // oxlint-disable-next-line no-await-in-loop
          await after(5);
        }
      }),
    );
    await after(100);
    const before = asked;
    // All keys of the slot are at the new place already, which the clients have not been told yet.
    await cluster.move(slot, 0, 2, async () => {
      const began = asked;
      while (asked < began + 20) await after(5);
    });
    expect(asked).toBeGreaterThan(before);
    const moved = asked;
    while (asked < moved + 20) await after(5);
    isOver = true;
    await Promise.all(loops);
    const left = await Promise.all(rates.map(async (rate) => (await rate.acquire(0)).quota()[0]!.remaining));
    expect(left[0]! + left[1]!).toBe(2 * LIMIT - asked);
  });

  test('leases are held through it, and who waits is served after it', async () => {
    const slots = limiterOf(
      shared.getConcurrencyLimiter(key, () => ({ permitLimit: 2, queueLimit: 9, leaseTtlMs: 3_000 })),
    );
    const [one, other] = (await Promise.all([slots.acquire(), slots.acquire()])) as RemoteLease[];
    const waiting = slots.acquire();
    await slots.acquire(0, { maxWaitMs: 0 });
    // Long enough for renewals.
    await cluster.move(slot, 0, 2, () => after(1_500));
    expect(one!.signal.aborted).toBe(false);
    one!.dispose();
    expect((await waiting).isAcquired).toBe(true);
    const more = slots.acquire();
    await slots.acquire(0, { maxWaitMs: 0 });
    other!.dispose();
    expect((await more).isAcquired).toBe(true);
    (await more).dispose();
    (await waiting).dispose();
    await shared.dispose();
  });
});
