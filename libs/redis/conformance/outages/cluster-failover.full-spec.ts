import { setTimeout as after } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions, STORE_UNAVAILABLE } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { CLUSTER_CLIENTS } from '../../../../test/redis/clients.js';
import { RedisCluster } from '../../../../test/redis/redis-cluster.js';

const LIMIT = 1_000;
const TIMEOUT_MS = 150;
/** A busy machine is slow, and the cluster has to agree first. */
const LONGEST_OUTAGE_MS = 25_000;

let cluster: RedisCluster;
let admin: Redis;
let shared: RedisPartitions;
let close: () => void;
afterEach(async () => {
  await shared.dispose();
  close();
  admin.disconnect();
  await cluster.stop();
});

async function begin(
  open: (typeof CLUSTER_CLIENTS)[number]['open'],
  replicas: 'alone' | 'with replicas',
): Promise<void> {
  cluster = await RedisCluster.start(replicas);
  // The second node lives on.
  admin = new Redis(cluster.nodes[1]!.port, '127.0.0.1');
  const opened = await open(cluster.nodes[1]!.port);
  close = opened.close;
  shared = createRedisPartitions({ client: opened.client, commandTimeoutMs: TIMEOUT_MS });
}

const rateOf = (key: string): ReturnType<typeof limiterOf> =>
  limiterOf(shared.getFixedWindowLimiter(key, () => ({ permitLimit: LIMIT, windowMs: 600_000 })));

/** Resolves when the limiter grants, or does not for so long. */
async function untilGranted(limiter: ReturnType<typeof limiterOf>): Promise<void> {
  const beganMs = performance.now();
  // oxlint-disable-next-line no-await-in-loop -- until it is well
  while (!(await limiter.acquire()).isAcquired) {
    expect(performance.now() - beganMs).toBeLessThan(LONGEST_OUTAGE_MS);
    // oxlint-disable-next-line no-await-in-loop
    await after(10);
  }
}

describe.each(CLUSTER_CLIENTS)('a cluster through $name', ({ open }) => {
  test('that loses a master puts its replica there: all are answered in time, and at most one limit is granted twice', async () => {
    await begin(open, 'with replicas');
    const key = await cluster.keyOf(0);
    const limiter = rateOf(key);
    const slots = limiterOf(
      shared.getConcurrencyLimiter(key, () => ({ permitLimit: 1, queueLimit: 2, leaseTtlMs: 60_000 })),
    );
    const held = (await slots.acquire()) as RemoteLease;
    const waiting = slots.acquire();
    await after(100);
    let granted = 0;
    let slowestMs = 0;
    const reasons = new Set<unknown>();
    const ask = async (): Promise<void> => {
      const askedMs = performance.now();
      const lease = await limiter.acquire();
      slowestMs = Math.max(slowestMs, performance.now() - askedMs);
      if (lease.isAcquired) granted++;
      else reasons.add(lease.getMetadata('REASON_PHRASE'));
    };
    for (let request = 0; request < 100; request++)
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await ask();
    expect(granted).toBe(100);
    await cluster.nodes[0]!.kill();
    const asked: Promise<void>[] = [];
    const killedMs = performance.now();
    while (granted < 150) {
      expect(performance.now() - killedMs).toBeLessThan(LONGEST_OUTAGE_MS);
      asked.push(ask());
      // oxlint-disable-next-line no-await-in-loop -- a hundred a second
      await after(10);
    }
    await Promise.all(asked);
    expect([...reasons]).toEqual([STORE_UNAVAILABLE]);
    expect(slowestMs).toBeLessThan(TIMEOUT_MS + 250);
    // What the replica had not heard of is granted once more, and no more than that.
    // oxlint-disable-next-line no-await-in-loop -- a call at a time, until the limit is reached
    while (!reasons.has(undefined)) await Promise.all(Array.from({ length: 100 }, ask));
    expect(granted).toBeGreaterThanOrEqual(LIMIT);
    expect(granted).toBeLessThanOrEqual(2 * LIMIT);
    // Who held a lease holds it, and who waited for it is served.
    expect(held.signal.aborted).toBe(false);
    held.dispose();
    expect((await waiting).isAcquired).toBe(true);
  });

  test('that has lost one node is asked about what lies on the others', async () => {
    await begin(open, 'alone');
    const keys = await Promise.all([0, 1, 2].map((node) => cluster.keyOf(node)));
    const [lost, ...others] = keys.map(rateOf);
    for (const limiter of [lost!, ...others])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await untilGranted(limiter);
    await cluster.nodes[0]!.kill();
    // The cluster calls it lost after two seconds, and closes then, as is Redis' default.
    for (let round = 0; round < 4; round++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, nothing else under way
      expect((await lost!.acquire()).getMetadata('REASON_PHRASE')).toBe(STORE_UNAVAILABLE);
      for (const limiter of others)
        // oxlint-disable-next-line no-await-in-loop
        expect((await limiter.acquire()).isAcquired).toBe(true);
    }
    await cluster.nodes[0]!.start();
  });
});
