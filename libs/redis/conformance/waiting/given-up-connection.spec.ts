import { setTimeout as after } from 'node:timers/promises';
import type { RateLimitLease } from '@ratelease/limiters';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { createRedisPartitions } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const server = TestServer.forThisFile();

/** Clients that don't connect again by themselves. */
const CLIENTS_THAT_GIVE_UP: Record<string, () => Promise<OpenClient>> = {
  ioredis: async () => {
    const client = new Redis(server.port, '127.0.0.1', { retryStrategy: () => null });
    await client.ping();
    return { client, close: () => client.disconnect() };
  },
  'node-redis': async () => {
    const socket = { port: server.port, host: '127.0.0.1', reconnectStrategy: false as const };
    const client = createClient({ socket });
    client.on('error', () => undefined);
    await client.connect();
    return { client, close: () => client.destroy() };
  },
};

/** Until so many processes hear their messages. */
async function heard(channels: number): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (((await server.client.pubsub('CHANNELS')) as string[]).length !== channels);
}

test.each(Object.entries(CLIENTS_THAT_GIVE_UP))(
  'whose second connection is closed by the server hears messages again, also through a client of %s that gives up',
  async (_name, open) => {
    const { client, close } = await open();
    const shared = createRedisPartitions({ client, commandTimeoutMs: 10_000 });
    const slots = limiterOf(shared.getConcurrencyLimiter('slots', () => ({ permitLimit: 1, queueLimit: 1 })));
    try {
      let lease: RateLimitLease = await slots.acquire();
      for (let closings = 0; closings < 2; closings++) {
        const next = slots.acquire();
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await heard(1);
        // oxlint-disable-next-line no-await-in-loop
        await server.client.client('KILL', 'TYPE', 'pubsub');
        // oxlint-disable-next-line no-await-in-loop
        await heard(0).then(() => heard(1));
        lease.dispose();
        // Without a message that is a third of the time of a lease, of 30 seconds.
        const late = after(5_000, 'looked up', { ref: false });
        // oxlint-disable-next-line no-await-in-loop
        expect(await Promise.race([next.then(() => 'told'), late])).toBe('told');
        // oxlint-disable-next-line no-await-in-loop
        lease = await next;
      }
      lease.dispose();
    } finally {
      await shared.dispose();
      close();
    }
    await heard(0);
  },
);
