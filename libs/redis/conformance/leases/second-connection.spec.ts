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

async function keepsNoProcessAlive(client: RedisPartitionsOptions['client']): Promise<void> {
  const shared = createRedisPartitions({ client, commandTimeoutMs: 30_000 });
  // The last test's are closed in a moment.
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (connections() > 1) await new Promise((resolve) => void setImmediate(resolve));
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
    expect(connections()).toBe(1);
  } finally {
    await shared.dispose();
  }
}

describe('the connection for messages, which the application never saw', () => {
  it('lets a process end that has closed its client of ioredis', async () => {
    const client = new Redis(server.port, '127.0.0.1');
    await client.ping();
    await keepsNoProcessAlive(client).finally(() => client.disconnect());
  });

  it('lets a process end that has closed its client of node-redis', async () => {
    const client = createClient({ url: `redis://127.0.0.1:${server.port}` });
    await client.connect();
    await keepsNoProcessAlive(client).finally(() => client.destroy());
  });
});
