import { setTimeout as after } from 'node:timers/promises';
import type { AsyncRateLimiter } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions, STORE_UNAVAILABLE } from '../../src/index.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { hold } from './hold.js';
import { OverturningClient } from './overturning-client.js';

const server = TestServer.forThisFile();

describe.each(CLIENTS)(
  'a server that has forgotten how to release, but was told again by others how to decide, through $name',
  (client) => {
    let opened: OpenClient;
    let shared: RedisPartitions;
    let others: RedisPartitions;
    let keys = 0;
    beforeEach(async () => {
      opened = await client.open(server.port);
      shared = createRedisPartitions({
        ...{ client: opened.client, commandTimeoutMs: 10_000, prefix: client.name },
      });
      others = createRedisPartitions({
        ...{ client: server.client, commandTimeoutMs: 10_000, prefix: 'others' },
      });
      keys++;
    });
    afterEach(async () => {
      await Promise.all([shared.dispose(), others.dispose()]);
      opened.close();
    });

    const slotsOf = (partitions: RedisPartitions, permitLimit: number, queueLimit = 0): AsyncRateLimiter =>
      limiterOf(partitions.getConcurrencyLimiter(`slots ${keys}`, () => ({ permitLimit, queueLimit })));

    /** Limiters that the process has used in every way, so that it takes the server to know all of that. */
    async function used(permitLimit: number, queueLimit = 0): Promise<AsyncRateLimiter> {
      const slots = slotsOf(shared, permitLimit, queueLimit);
      await ((await slots.acquire()) as RemoteLease)[Symbol.asyncDispose]();
      return slots;
    }

    async function forget(): Promise<void> {
      await server.client.script('FLUSH', 'SYNC');
      await slotsOf(others, 1).acquire(0);
    }

    test('a process finds free what it has given back', async () => {
      const slots = await used(1);
      const [lease] = await hold(slots, 1);
      await forget();
      lease!.dispose();
      expect((await slots.acquire()).isAcquired).toBe(true);
    });

    test('also of several limiters in one call', async () => {
      const limits = Array.from({ length: 5 }, (_, index) =>
        limiterOf(shared.getConcurrencyLimiter(`of many ${keys} ${index}`, () => ({ permitLimit: 1 }))),
      );
      const leases = await Promise.all(limits.map((slots) => slots.acquire()));
      (await limits[0]!.acquire(0)).dispose();
      await used(1);
      await forget();
      for (const lease of leases) lease.dispose();
      const again = await Promise.all(limits.map((slots) => slots.acquire()));
      expect(again.map(({ isAcquired }) => isAcquired)).toEqual([true, true, true, true, true]);
    });

    test('each is given back once, and none is lost', async () => {
      const slots = await used(3);
      const leases = await hold(slots, 3);
      await forget();
      const asked = leases.map((lease) => {
        lease.dispose();
        return slots.acquire();
      });
      expect((await Promise.all(asked)).map(({ isAcquired }) => isAcquired)).toEqual([true, true, true]);
      expect((await slots.acquire(0)).isAcquired).toBe(false);
    });

    test('a full queue has room again', async () => {
      const slots = await used(1, 1);
      const [lease] = await hold(slots, 1);
      const abort = new AbortController();
      const first = slots.acquire(1, { signal: abort.signal });
      first.catch(() => undefined);
      await slots.acquire(0, { maxWaitMs: 0 });
      await forget();
      abort.abort();
      const second = slots.acquire();
      await slots.acquire(0, { maxWaitMs: 0 });
      lease!.dispose();
      expect((await second).isAcquired).toBe(true);
    });
  },
);

describe('a cluster that hears in another order than it was told', () => {
  let client: OverturningClient;
  let shared: RedisPartitions;
  let keys = 0;
  beforeEach(() => {
    client = new OverturningClient(server.port);
    shared = createRedisPartitions({
      client: client.asCluster,
      commandTimeoutMs: 10_000,
      prefix: 'overturned',
    });
    keys++;
  });
  afterEach(async () => {
    await shared.dispose();
    client.close();
  });

  const limiterOfPermits = (permitLimit: number, queueLimit = 0): AsyncRateLimiter =>
    limiterOf(shared.getConcurrencyLimiter(`slots ${keys}`, () => ({ permitLimit, queueLimit })));

  test('a question that overtakes what is given back is asked again', async () => {
    const slots = limiterOfPermits(1);
    const lease = await slots.acquire();
    client.holdReleases();
    lease.dispose();
    const asked = slots.acquire();
    await client.untilDecided();
    client.letGo();
    expect((await asked).isAcquired).toBe(true);
  });

  test('also where both are answered in one', async () => {
    const slots = limiterOfPermits(1);
    const lease = await slots.acquire();
    client.holdReleases('behind the next decision');
    lease.dispose();
    expect((await slots.acquire()).isAcquired).toBe(true);
  });

  test('also of several in a call that one which was refused, and no other', async () => {
    const slots = limiterOfPermits(3);
    const lease = await slots.acquire(2);
    client.holdReleases();
    lease.dispose();
    const asked = Promise.all([slots.acquire(), slots.acquire(2)]);
    await client.untilDecided();
    client.letGo();
    expect((await asked).map(({ isAcquired }) => isAcquired)).toEqual([true, true]);
    expect((await slots.acquire(0)).isAcquired).toBe(false);
  });

  test('what is given back only after the question does not count, and costs no call', async () => {
    const slots = limiterOfPermits(1);
    const lease = await slots.acquire();
    client.holdReleases();
    const asked = slots.acquire();
    await new Promise(setImmediate);
    const before = client.decisions;
    lease.dispose();
    expect((await asked).isAcquired).toBe(false);
    expect(client.decisions - before).toBeLessThanOrEqual(1);
    client.letGo();
  });

  test('a refusal behind what was given back is asked once', async () => {
    const slots = limiterOfPermits(2);
    const [first] = await hold(slots, 2);
    first!.dispose();
    const before = client.decisions;
    expect((await slots.acquire(2)).isAcquired).toBe(false);
    expect(client.decisions - before).toBe(1);
  });

  test('where what is given back is not heard in time, a refusal stands: the store has answered', async () => {
    const slots = limiterOf(
      shared.getConcurrencyLimiter(`slots ${keys}`, () => ({
        ...{ permitLimit: 1, commandTimeoutMs: 1_000, whenUnavailable: 'allow' as const },
      })),
    );
    const lease = await slots.acquire();
    client.holdReleases();
    lease.dispose();
    const next = await slots.acquire();
    expect(next.isAcquired).toBe(false);
    expect(next.getMetadata('REASON_PHRASE')).not.toBe(STORE_UNAVAILABLE);
    expect(shared.isAvailable).toBe(true);
    client.letGo();
  });

  test('what is granted once that refusal stands is given back: not the place of him who asks on', async () => {
    const commandTimeoutMs = 3_000;
    // Long enough for the second question to come within it.
    const windowMs = 1_000;
    const options = { permitLimit: 1, commandTimeoutMs };
    const key = `both ${keys}`;
    const rate = createPartitionedRateLimiter(() =>
      shared.getFixedWindowLimiter(key, () => ({ ...options, windowMs, queueLimit: 1 })),
    );
    const slots = createPartitionedRateLimiter(() => shared.getConcurrencyLimiter(key, () => options));
    const both = createChainedPartitionedRateLimiter(rate, slots);
    const lease = await both.acquire(undefined);
    client.holdReleases();
    lease.dispose();
    const asked = both.acquire(undefined);
    await client.untilDecided();
    // Refused by the rate. Asked again, it is granted, but that isn't heard before it waits for the rate and asks anew.
    await after(windowMs + 100);
    client.holdAnswers();
    client.letGo();
    await after(commandTimeoutMs + 200);
    client.answer();
    expect((await asked).isAcquired).toBe(true);
  });

  test('nor is what can’t be given back asked for without end', async () => {
    const slots = limiterOfPermits(1);
    const lease = await slots.acquire();
    await server.client.config('SET', 'min-replicas-to-write', '1');
    try {
      lease.dispose();
      const before = client.decisions;
      expect((await slots.acquire()).isAcquired).toBe(false);
      expect(client.decisions - before).toBeLessThan(10);
    } finally {
      await server.client.config('SET', 'min-replicas-to-write', '0');
    }
    expect((await slots.acquire()).isAcquired).toBe(true);
  });
});
