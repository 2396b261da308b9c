import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { RedisServer } from '../../../../test/redis/redis-server.js';
import type { Surroundings } from './random-work.js';
import { anyStep, RandomWork } from './random-work.js';

/** Clients that connect again at once. */
const CLIENTS = [
  {
    name: 'ioredis',
    open: async (port: number): Promise<OpenClient> => {
      const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 1 });
      client.on('error', () => undefined);
      await client.ping();
      return { client, close: () => client.disconnect() };
    },
  },
  {
    name: 'node-redis',
    open: async (port: number): Promise<OpenClient> => {
      const client = createClient({
        url: `redis://127.0.0.1:${port}`,
        socket: { reconnectStrategy: () => 1 },
      });
      client.on('error', () => undefined);
      await client.connect();
      return { client, close: () => client.destroy() };
    },
  },
];

let server: RedisServer;
let proxy: CuttingProxy;
let admin: Redis;
beforeAll(async () => {
  server = await RedisServer.start();
  proxy = await CuttingProxy.start(server.port);
  admin = new Redis(server.port, '127.0.0.1');
});
afterAll(async () => {
  admin.disconnect();
  proxy.stop();
  await server.stop();
});

describe.each(CLIENTS)('what a process holds the server counts, through $name', ({ name, open }) => {
  let opened: OpenClient;
  let runs = 0;
  beforeAll(async () => {
    opened = await open(proxy.port);
  });
  afterAll(() => opened.close());

  async function works(
    patience: Pick<Surroundings, 'commandTimeoutMs' | 'isPatient'>,
    numRuns: number,
  ): Promise<void> {
    const property = fc.asyncProperty(fc.array(anyStep, { minLength: 20, maxLength: 60 }), async (steps) => {
      const work = new RandomWork({
        ...{ client: opened.client, proxy, admin, prefix: `${name}-${runs++}` },
        ...patience,
      });
      // In every other run what comes next comes while something is on its way.
      proxy.delayMs = 2 * (runs % 2);
      try {
        await work.run(steps);
        await work.finish();
      } finally {
        proxy.delayMs = 0;
      }
    });
    await fc.assert(property, { numRuns, endOnFailure: true });
  }

  test('whatever happens on the way; and what it gives back it finds free when it asks next', () =>
    works({ commandTimeoutMs: 20_000, isPatient: true }, 20));

  test('also where answers come too late', () => works({ commandTimeoutMs: 8, isPatient: false }, 6));
});
