import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { createRedisPartitions } from '../../src/index.js';
import type { RedisPartitionsOptions } from '../../src/index.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const server = TestServer.forThisFile();

/** Connections for which the process would go on. */
const connections = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;

/** @param before - how many there were before the client's own: the process runs other tests, too. */
async function keepsNoProcessAlive(client: RedisPartitionsOptions['client'], before: number): Promise<void> {
  const shared = createRedisPartitions({ client, commandTimeoutMs: 30_000 });
  const limiter = limiterOf(
    shared.getConcurrencyLimiter('second', () => ({ permitLimit: 1, queueLimit: 1, name: 'second' })),
  );
  try {
    const lease = await limiter.acquire();
    const waiting = limiter.acquire();
    // Answered in the same call: the other one has its place in the queue.
    expect((await limiter.acquire(1, { maxWaitMs: 0 })).isAcquired).toBe(false);
    lease.dispose();
    // Told by the second connection: it is there.
    expect((await waiting).isAcquired).toBe(true);
    expect(connections()).toBeLessThanOrEqual(before + 1);
  } finally {
    await shared.dispose();
  }
}

/** Its own are closed in a moment: those of the next test begin from there. */
async function closed(before: number): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (connections() > before) await new Promise((resolve) => void setImmediate(resolve));
}

describe('the connection for messages, which the application never saw', () => {
  it('lets a process end that has closed its client of ioredis', async () => {
    const before = connections();
    const client = new Redis(server.port, '127.0.0.1');
    await client.ping();
    await keepsNoProcessAlive(client, before).finally(() => client.disconnect());
    await closed(before);
  });

  it('lets a process end that has closed its client of node-redis', async () => {
    const before = connections();
    const client = createClient({ url: `redis://127.0.0.1:${server.port}` });
    await client.connect();
    await keepsNoProcessAlive(client, before).finally(() => client.destroy());
    await closed(before);
  });
});
