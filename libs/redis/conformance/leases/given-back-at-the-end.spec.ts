import type { RateLimitLease } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import { Redis } from 'ioredis';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { Overtime } from '../outages/overtime.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import type { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';
import { ProxiedServer } from '../../../../test/redis/proxied-server.js';

const PATIENCE_MS = 20_000;
const TEN = { permitLimit: 10, windowMs: 3_600_000 };

let proxied: ProxiedServer;
let proxy: CuttingProxy;
let observer: Redis;
let observed: RedisPartitions;
beforeAll(async () => {
  proxied = await ProxiedServer.start();
  ({ proxy, admin: observer } = proxied);
});
afterAll(() => proxied.stop());

const rateOf = (shared: RedisPartitions, key: string): ReturnType<typeof limiterOf> =>
  limiterOf(shared.getFixedWindowLimiter(key, () => TEN));
const slotsOf = (shared: RedisPartitions, key: string): ReturnType<typeof limiterOf> =>
  limiterOf(shared.getConcurrencyLimiter(key, () => ({ permitLimit: 10 })));
const left = (lease: RateLimitLease): number | undefined => lease.quota()[0]!.remaining;

describe.each(CLIENTS)(
  'at the end, which an application closes its client after, through $name',
  (client) => {
    let opened: OpenClient;
    let shared: RedisPartitions;
    beforeEach(async () => {
      opened = await client.open(proxy.port);
      const prefix = client.name;
      shared = createRedisPartitions({ client: opened.client, commandTimeoutMs: PATIENCE_MS, prefix });
      observed = createRedisPartitions({ client: observer, commandTimeoutMs: PATIENCE_MS, prefix });
      expect(left(await rateOf(shared, 'warm').acquire(0))).toBe(10);
      proxy.holdAnswers();
    });
    afterEach(async () => {
      proxy.delayMs = 0;
      proxy.speak();
      await observed.dispose();
    });

    /** What is on its way is answered once the end has begun. */
    async function end(): Promise<void> {
      const ended = shared.dispose();
      proxy.speak();
      await ended;
      opened.close();
    }

    /** The server has decided, and its answer is on its way. */
    async function charged(key: string): Promise<void> {
      // oxlint-disable-next-line no-await-in-loop -- until it is so
      while (left(await rateOf(observed, key).acquire(0)) === 10);
    }

    test('what a request is granted is given back that was aborted before its answer', async () => {
      const aborting = new AbortController();
      const asked = rateOf(shared, 'aborted').acquire(4, { signal: aborting.signal });
      await charged('aborted');
      aborting.abort();
      await expect(asked).rejects.toThrow(/abort/i);
      await end();
      expect(left(await rateOf(observed, 'aborted').acquire(0))).toBe(10);
    });

    test('what a request is granted is given back that is aborted during the end', async () => {
      const aborting = new AbortController();
      const asked = rateOf(shared, 'aborted late').acquire(4, { signal: aborting.signal });
      await charged('aborted late');
      const ended = end();
      aborting.abort();
      await expect(asked).rejects.toThrow(/abort/i);
      await ended;
      expect(left(await rateOf(observed, 'aborted late').acquire(0))).toBe(10);
    });

    test('a lease is given back that is asked for behind another request, and granted after the end has begun', async () => {
      const slots = slotsOf(shared, 'behind');
      const asked = [slots.acquire(4)];
      await new Promise(setImmediate);
      asked.push(slots.acquire(4));
      await end();
      for (const lease of await Promise.all(asked))
        expect(lease.getMetadata('REASON_PHRASE')).toBe('Limiter disposed');
      expect(left(await slotsOf(observed, 'behind').acquire(0))).toBe(10);
    });

    const togetherOf = (key: string): ReturnType<typeof createChainedPartitionedRateLimiter<string>> =>
      createChainedPartitionedRateLimiter<string>(
        createPartitionedRateLimiter(() => shared.getFixedWindowLimiter(key, () => TEN)),
        createPartitionedRateLimiter(() => shared.getConcurrencyLimiter(key, () => ({ permitLimit: 10 }))),
      );

    test('both are given back of a rate and a lease whose grant comes after the end has begun', async () => {
      const key = 'under way';
      const asked = togetherOf(key).acquire(key, 4);
      await charged(key);
      await end();
      expect((await asked).getMetadata('REASON_PHRASE')).toBe('Limiter disposed');
      expect(left(await rateOf(observed, key).acquire(0))).toBe(10);
      expect(left(await slotsOf(observed, key).acquire(0))).toBe(10);
    });

    test('of limiters that were asked together the rate is given back and the lease is released', async () => {
      const key = 'together';
      const aborting = new AbortController();
      const asked = togetherOf(key).acquire(key, 4, { signal: aborting.signal });
      await charged(key);
      aborting.abort();
      await expect(asked).rejects.toThrow(/abort/i);
      await end();
      expect(left(await rateOf(observed, key).acquire(0))).toBe(10);
      expect(left(await slotsOf(observed, key).acquire(0))).toBe(10);
    });

    describe('in a chain of limiters that are asked one after the other', () => {
      const chainOf = (key: string): ReturnType<typeof createChainedPartitionedRateLimiter<string>> =>
        createChainedPartitionedRateLimiter<string>(
          createPartitionedRateLimiter(() => shared.getFixedWindowLimiter(`${key} first`, () => TEN)),
          createPartitionedRateLimiter(() => shared.getFixedWindowLimiter(`${key} second`, () => TEN)),
        );

      test('what the first has granted is given back where the second has just refused', async () => {
        proxy.speak();
        proxy.delayMs = 30;
        await rateOf(observed, 'refused second').acquire(10);
        expect((await chainOf('refused').acquire('', 4)).isAcquired).toBe(false);
        await end();
        expect(left(await rateOf(observed, 'refused first').acquire(0))).toBe(10);
      });

      test('what the first grants is given back where the second can’t be asked any more', async () => {
        const asked = chainOf('ended').acquire('', 4);
        await charged('ended first');
        const ended = end();
        await expect(asked).rejects.toMatchObject({ code: 'ERR_RL_OBJECT_DISPOSED' });
        await ended;
        expect(left(await rateOf(observed, 'ended first').acquire(0))).toBe(10);
      });
    });
  },
);

test('the end waits no longer than for a command for what is on its way', async () => {
  const client = new Redis(proxy.port, '127.0.0.1');
  const commandTimeoutMs = 1_000;
  const shared = createRedisPartitions({ client, commandTimeoutMs });
  await rateOf(shared, 'silent').acquire();
  const aborting = new AbortController();
  proxy.silence();
  const asked = rateOf(shared, 'silent').acquire(4, { signal: aborting.signal });
  await new Promise(setImmediate);
  aborting.abort();
  await expect(asked).rejects.toThrow(/abort/i);
  const overtime = new Overtime(commandTimeoutMs);
  await overtime.of(() => shared.dispose());
  expect(overtime.mostMs).toBeLessThan(commandTimeoutMs / 2);
  client.disconnect();
  proxy.speak();
});
