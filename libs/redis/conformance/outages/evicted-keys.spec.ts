import { createRedisPartitions } from '../../src/index.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { hold } from '../leases/hold.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const server = TestServer.forThisFile();

describe.each(CLIENTS)('a server that evicts keys, through $name', ({ open, name }) => {
  test.each([
    { kept: 'its state', evicts: /\}$/ },
    { kept: 'its leases', evicts: /:leases$/ },
    { kept: 'its queue', evicts: /:queue$/ },
    { kept: 'the moments at which its waiters are dead', evicts: /:alive$/ },
    { kept: 'all of it', evicts: /./ },
  ])('serves everybody who waits for a limiter, where that was $kept', async ({ kept, evicts }) => {
    const { client, close } = await open(server.port);
    const shared = createRedisPartitions({ client, prefix: name, commandTimeoutMs: 10_000 });
    const slots = limiterOf(
      shared.getConcurrencyLimiter(kept, () => ({ permitLimit: 2, queueLimit: 2, leaseTtlMs: 1_000 })),
    );
    const held = await hold(slots, 2);
    const waiting = [1, 2].map(() => slots.acquire(1, { maxWaitMs: 8_000 }));
    await slots.acquire(0, { maxWaitMs: 0 });
    const keys = (await server.client.keys(`${name}:*`)).filter((key) => evicts.test(key));
    expect(await server.client.del(keys)).toBeGreaterThan(0);
    for (const lease of held) lease.dispose();
    const served = await Promise.all(waiting);
    expect(served.map(({ isAcquired }) => isAcquired)).toEqual([true, true]);
    for (const lease of served) lease.dispose();
    const again = await Promise.all([1, 2, 3].map(() => slots.acquire(1, { maxWaitMs: 0 })));
    expect(again.filter(({ isAcquired }) => isAcquired)).toHaveLength(2);
    await shared.dispose();
    close();
    await server.client.flushall();
  });
});
