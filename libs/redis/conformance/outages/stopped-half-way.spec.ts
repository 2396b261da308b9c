import { setTimeout as after } from 'node:timers/promises';
import type { AsyncRateLimiter } from '@ratelease/limiters';
import type { RedisPartitions } from '../../src/index.js';
import { buildRedisPartitions } from '../../src/create-redis-partitions.js';
import { createRedisPartitions } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { hold } from '../leases/hold.js';
import { limiterOf } from '../oracle/limiter-pair.js';

const server = TestServer.forThisFile();

const TTL_MS = 3_000;
/** Far longer than to a renewal, and shorter than keys are kept. */
const PATIENCE_MS = 3 * TTL_MS;

const allow = (...rules: string[]): Promise<unknown> =>
  server.client.call('ACL', 'SETUSER', 'default', ...rules);

describe.each(CLIENTS)('scripts that are stopped half-way, through $name', ({ open, name }) => {
  test.each(['hset', 'zrange', 'zscore', 'zadd'])(
    'as %s is not allowed for a time, cost no permit of a limiter in use for longer than to a renewal',
    async (command) => {
      const { client, close } = await open(server.port);
      const shared = createRedisPartitions({ client, prefix: name, commandTimeoutMs: 10_000 });
      const slots = limiterOf(
        shared.getConcurrencyLimiter(command, () => ({
          ...{ permitLimit: 3, queueLimit: 3, leaseTtlMs: TTL_MS },
        })),
      );
      const [held, ...others] = await Promise.all([slots.acquire(), slots.acquire(), slots.acquire()]);
      const waiting = slots.acquire(1, { maxWaitMs: PATIENCE_MS });
      await slots.acquire(0, { maxWaitMs: 0 });
      await allow(`-${command}`);
      for (const lease of others) lease.dispose();
      await slots.acquire(0, { maxWaitMs: 0 });
      await allow('+@all');
      // One is held all the time, and one goes to who waits.
      const sinceMs = performance.now();
      expect((await waiting).isAcquired).toBe(true);
      let last = await slots.acquire(1, { maxWaitMs: 0 });
      while (!last.isAcquired && performance.now() - sinceMs < PATIENCE_MS) {
        // oxlint-disable-next-line no-await-in-loop -- until it is so
        await after(20);
        // oxlint-disable-next-line no-await-in-loop
        last = await slots.acquire(1, { maxWaitMs: 0 });
      }
      expect(last.isAcquired).toBe(true);
      expect((await slots.acquire(1, { maxWaitMs: 0 })).isAcquired).toBe(false);
      held.dispose();
      await shared.dispose();
      close();
    },
  );

  test('cost no permit of a limiter whose leases are given back before they are renewed, and one of which is always held', async () => {
    const { client, close } = await open(server.port);
    let nowUs = 1_783_228_800_123_456;
    const shared = buildRedisPartitions({ client, prefix: name, commandTimeoutMs: 10_000 }, () => nowUs);
    const slots = limiterOf(
      shared.getConcurrencyLimiter('short', () => ({ permitLimit: 3, leaseTtlMs: 60_000 })),
    );
    const held = [await slots.acquire(), await slots.acquire()];
    await allow('-hset');
    held.shift()!.dispose();
    await slots.acquire(0, { maxWaitMs: 0 });
    await allow('+@all');
    // Twice as long as a lease would last.
    for (let turn = 0; turn < 12; turn++) {
      nowUs += 10_000_000;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      held.push(await slots.acquire());
      held.shift()!.dispose();
    }
    expect((await slots.acquire(2)).isAcquired).toBe(true);
    expect((await slots.acquire()).isAcquired).toBe(false);
    await shared.dispose();
    close();
  });

  test.each([1, 8])(
    'cost no permit where %i processes always hold more than are reaped at once',
    async (processes) => {
      const { client, close } = await open(server.port);
      const sharedBy = Array.from({ length: processes }, () =>
        createRedisPartitions({ client, prefix: name, commandTimeoutMs: 10_000 }),
      );
      const slotsBy = sharedBy.map((shared) =>
        limiterOf(
          shared.getConcurrencyLimiter(`many ${processes}`, () => ({ permitLimit: 600, leaseTtlMs: TTL_MS })),
        ),
      );
      const slots = slotsBy[0]!;
      const leases = (await Promise.all(slotsBy.map((one) => hold(one, 600 / processes)))).flat();
      await allow('-hset');
      for (const lease of leases.splice(0, 10)) lease.dispose();
      await slots.acquire(0, { maxWaitMs: 0 });
      await allow('+@all');
      const sinceMs = performance.now();
      let again = await slots.acquire(10);
      while (!again.isAcquired && performance.now() - sinceMs < PATIENCE_MS) {
        // oxlint-disable-next-line no-await-in-loop -- until it is so
        await after(20);
        // oxlint-disable-next-line no-await-in-loop
        again = await slots.acquire(10);
      }
      expect(again.isAcquired).toBe(true);
      expect((await slots.acquire()).isAcquired).toBe(false);
      await Promise.all(sharedBy.map((shared) => shared.dispose()));
      close();
    },
  );

  test.each([
    { fate: 'gives up its place', rules: ['-hset'], ttlMs: 3 * PATIENCE_MS },
    { fate: 'is killed', rules: ['-hset', '-zrem'], ttlMs: TTL_MS },
  ])(
    'before they counted who waits leave nobody behind out of turn, where who asked $fate',
    async ({ fate, rules, ttlMs }) => {
      const [mortal, living] = await Promise.all([open(server.port), open(server.port)]);
      const sharedBy = ({ client }: OpenClient): RedisPartitions =>
        createRedisPartitions({ client, prefix: `${name} waits`, commandTimeoutMs: 10_000 });
      const [dying, shared] = [sharedBy(mortal), sharedBy(living)];
      const slotsOf = (partitions: RedisPartitions): AsyncRateLimiter =>
        limiterOf(
          partitions.getConcurrencyLimiter(fate, () => ({
            ...{ permitLimit: 1, queueLimit: 2, leaseTtlMs: ttlMs },
          })),
        );
      const held = await slotsOf(shared).acquire();
      await allow(...rules);
      await Promise.all([slotsOf(dying).acquire(), slotsOf(dying).acquire()]);
      await slotsOf(dying).acquire(0, { maxWaitMs: 0 });
      if (fate === 'is killed') mortal.close();
      await allow('+@all');
      const waiting = [1, 2].map(async () => {
        const lease = await slotsOf(shared).acquire(1, { maxWaitMs: PATIENCE_MS });
        lease.dispose();
        return lease.isAcquired;
      });
      await slotsOf(shared).acquire(0, { maxWaitMs: 0 });
      held.dispose();
      expect(await Promise.all(waiting)).toEqual([true, true]);
      await Promise.all([dying.dispose(), shared.dispose()]);
      if (fate !== 'is killed') mortal.close();
      living.close();
    },
  );
});
