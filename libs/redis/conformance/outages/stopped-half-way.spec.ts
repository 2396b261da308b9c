import { setTimeout as after } from 'node:timers/promises';
import type { AsyncRateLimiter } from '@ratelease/limiters';
import type { RedisPartitions } from '../../src/index.js';
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

  test('cost no permit of a process that always holds more than are reaped at once', async () => {
    const { client, close } = await open(server.port);
    const shared = createRedisPartitions({ client, prefix: name, commandTimeoutMs: 10_000 });
    const slots = limiterOf(
      shared.getConcurrencyLimiter('many', () => ({ permitLimit: 300, leaseTtlMs: TTL_MS })),
    );
    const leases = await hold(slots, 300);
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
    await shared.dispose();
    close();
  });

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
