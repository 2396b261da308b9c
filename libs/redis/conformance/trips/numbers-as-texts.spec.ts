import { Redis } from 'ioredis';
import { createClient, RESP_TYPES } from 'redis';
import { createRedisPartitions } from '../../src/index.js';
import type { RedisPartitionsOptions } from '../../src/index.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const server = TestServer.forThisFile();

async function decides(client: RedisPartitionsOptions['client'], prefix: string): Promise<void> {
  const shared = createRedisPartitions({ client, prefix, commandTimeoutMs: 30_000 });
  const twice = limiterOf(
    shared.getFixedWindowLimiter('key', () => ({ permitLimit: 2, windowMs: 60_000, name: 'twice' })),
  );
  const one = limiterOf(
    shared.getConcurrencyLimiter('key', () => ({
      permitLimit: 1,
      queueLimit: 1,
      leaseTtlMs: 3_000,
      name: 'one',
    })),
  );
  try {
    expect((await twice.acquire()).quota()).toMatchObject([{ limit: 2, remaining: 1 }]);
    expect((await twice.acquire()).isAcquired).toBe(true);
    const refused = await twice.acquire();
    expect(refused.getMetadata('RETRY_AFTER')).toBeGreaterThan(30_000);
    const held = await one.acquire();
    const waiting = one.acquire();
    // Renewed each second: without that it would be somebody else's by now.
    await new Promise((resolve) => void setTimeout(resolve, 4_500));
    expect((await one.acquire()).isAcquired).toBe(false);
    held.dispose();
    expect((await waiting).isAcquired).toBe(true);
  } finally {
    await shared.dispose();
  }
}

describe('a client that reads numbers as texts is answered like any other', () => {
  test('ioredis, with stringNumbers', async () => {
    const client = new Redis(server.port, '127.0.0.1', { stringNumbers: true });
    await decides(client, 'ioredis').finally(() => client.disconnect());
  });

  test('node-redis, with a mapping of types', async () => {
    const typeMapping = { [RESP_TYPES.NUMBER]: String };
    const client = createClient({
      url: `redis://127.0.0.1:${server.port}`,
      commandOptions: { typeMapping },
    });
    await client.connect();
    await decides(client, 'node-redis').finally(() => client.destroy());
  });
});
