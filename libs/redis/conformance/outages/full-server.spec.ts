import diagnostics from 'node:diagnostics_channel';
import { setTimeout as after } from 'node:timers/promises';
import type { RedisPartitions, RemoteLease, StoreEvent } from '../../src/index.js';
import { createRedisPartitions, STORE_CHANNEL } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const OPTIONS = { permitLimit: 2, queueLimit: 2, leaseTtlMs: 3_000 };

const server = TestServer.forThisFile();

describe.each(CLIENTS)('a server that is full, through $name', ({ name, open }) => {
  let opened: OpenClient;
  let shared: RedisPartitions;
  let states: string[];
  const listener = (event: unknown): void => void states.push((event as StoreEvent).state);
  beforeEach(async () => {
    opened = await open(server.port);
    shared = createRedisPartitions({ client: opened.client, prefix: name, commandTimeoutMs: 10_000 });
    states = [];
    diagnostics.subscribe(STORE_CHANNEL, listener);
  });
  afterEach(async () => {
    diagnostics.unsubscribe(STORE_CHANNEL, listener);
    await server.client.config('SET', 'maxmemory', '0');
    await shared.dispose();
    opened.close();
  });

  test('keeps what is held, takes back what is given back and hands it over, and does not count as well for that', async () => {
    const slots = limiterOf(shared.getConcurrencyLimiter('slots', () => OPTIONS));
    const [held, given] = (await Promise.all([slots.acquire(), slots.acquire()])) as RemoteLease[];
    const waiting = slots.acquire();
    await slots.acquire(0, { maxWaitMs: 0 });
    await server.client.config('SET', 'maxmemory', '1');
    const fullMs = performance.now();
    expect((await slots.acquire()).isAcquired).toBe(false);
    given!.dispose();
    const handedOver = (await waiting) as RemoteLease;
    expect(handedOver.isAcquired).toBe(true);
    // Longer than a lease that nobody renews.
    while (performance.now() - fullMs < 1.5 * OPTIONS.leaseTtlMs && !held!.signal.aborted)
      // oxlint-disable-next-line no-await-in-loop -- until it is so
      await after(20);
    expect([held!.signal.aborted, handedOver.signal.aborted]).toEqual([false, false]);
    expect(states).toEqual(['refusing']);
    await Promise.all([held, handedOver].map((lease) => lease![Symbol.asyncDispose]()));
    expect(await server.client.keys(`${name}:v1:{slots}:*`)).toEqual([]);
  });
});
