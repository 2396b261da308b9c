import * as fc from 'fast-check';
import type { Redis } from 'ioredis';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { clientsThatReconnect } from '../../../../test/redis/clients.js';
import type { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { ProxiedServer } from '../../../../test/redis/proxied-server.js';
import type { Surroundings } from './random-work.js';
import { anyStep, RandomWork } from './random-work.js';
import { boundedTrace } from '../../../../test/traces/bounded-trace.js';

let proxied: ProxiedServer;
let proxy: CuttingProxy;
let admin: Redis;
beforeAll(async () => {
  proxied = await ProxiedServer.start();
  ({ proxy, admin } = proxied);
});
afterAll(() => proxied.stop());

describe.each(clientsThatReconnect(1))(
  'what a process holds the server counts, through $name',
  ({ name, open }) => {
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
      const property = fc.asyncProperty(
        fc.array(anyStep, { minLength: 20, maxLength: 60 }),
        boundedTrace(async (steps) => {
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
        }),
      );
      await fc.assert(property, { numRuns, endOnFailure: true });
    }

    test('whatever happens on the way; and what it gives back it finds free when it asks next', () =>
      works({ commandTimeoutMs: 20_000, isPatient: true }, 20));

    test('also where answers come too late', () => works({ commandTimeoutMs: 8, isPatient: false }, 6));
  },
);
