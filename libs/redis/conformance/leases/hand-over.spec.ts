import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const server = TestServer.forThisFile();

describe.each(CLIENTS)('through $name', ({ open, name }) => {
  let clients: OpenClient[];
  let one: RedisPartitions;
  let other: RedisPartitions;
  let keys = 0;
  beforeEach(async () => {
    clients = await Promise.all([open(server.port), open(server.port)]);
    [one, other] = clients.map(({ client }) =>
      createRedisPartitions({ client, commandTimeoutMs: 10_000 }),
    ) as [RedisPartitions, RedisPartitions];
    keys++;
  });
  afterEach(async () => {
    await one.dispose();
    await other.dispose();
    for (const client of clients) client.close();
  });

  function limiters(options: object): ReturnType<typeof limiterOf>[] {
    const make = (partitions: RedisPartitions): ReturnType<typeof limiterOf> =>
      limiterOf(
        partitions.getConcurrencyLimiter(`${name}-${keys}`, () => ({
          permitLimit: 1,
          queueLimit: 10,
          ...options,
        })),
      );
    return [make(one), make(other)];
  }

  test('a lease of one process holds back the other until it is disposed', async () => {
    const [here, there] = limiters({ queueLimit: 0 });
    const lease = await here!.acquire();
    const refused = await there!.acquire();
    expect(refused.isAcquired).toBe(false);
    expect(refused.getMetadata('REASON_PHRASE')).toBe('Permit limit reached');
    expect(refused.getMetadata('RETRY_AFTER')).toBeUndefined();
    await (lease as RemoteLease)[Symbol.asyncDispose]();
    expect((await there!.acquire()).isAcquired).toBe(true);
  });

  test('waiters of both processes are served in the order in which they came', async () => {
    const [here, there] = limiters({});
    const served: number[] = [];
    const first = await here!.acquire();
    const waiters: Promise<void>[] = [];
    for (let index = 0; index < 6; index++) {
      const limiter = index % 2 === 0 ? there! : here!;
      const waiting = limiter.acquire();
      // oxlint-disable-next-line no-await-in-loop -- in this order
      await queued(index + 1);
      waiters.push(
        waiting.then((lease) => {
          served.push(index);
          lease.dispose();
        }),
      );
    }
    first.dispose();
    await Promise.all(waiters);
    expect(served).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('requests that come as the process begins to listen have one place each', async () => {
    const [here, there] = limiters({ permitLimit: 5, queueLimit: 5 });
    // The first of them find their script unknown: what is sent meanwhile overtakes them.
    await server.client.script('FLUSH', 'SYNC');
    const asked: ReturnType<(typeof here & {})['acquire']>[] = [];
    for (let index = 0; index < 11; index++) {
      asked.push((index % 2 === 0 ? here! : there!).acquire());
      // oxlint-disable-next-line no-await-in-loop -- in calls of their own
      if (index % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    let refused = 0;
    let tell: () => void;
    const isFull = new Promise<void>((resolve) => (tell = resolve));
    await Promise.all(
      asked.map(async (one) => {
        const lease = await one;
        if (!lease.isAcquired) {
          refused++;
          tell();
        } else {
          // Those who have permits keep them until all others have a place, and one has none.
          await isFull;
          lease.dispose();
        }
      }),
    );
    expect(refused).toBe(1);
  });

  test('an abort frees the place of a waiter', async () => {
    const [here, there] = limiters({});
    const lease = await here!.acquire();
    const abort = new AbortController();
    const aborted = there!.acquire(1, { signal: abort.signal });
    await queued(1);
    const behind = there!.acquire();
    await queued(2);
    abort.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    lease.dispose();
    expect((await behind).isAcquired).toBe(true);
  });

  test('a queue that is full refuses, and a wait that is too long ends', async () => {
    const [here, there] = limiters({ queueLimit: 1 });
    await here!.acquire();
    const abort = new AbortController();
    const waiting = there!.acquire(1, { signal: abort.signal });
    await queued(1);
    const refused = await here!.acquire();
    expect(refused.getMetadata('REASON_PHRASE')).toBe('Queue limit reached');
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await left();
    const late = await there!.acquire(1, { maxWaitMs: 60 });
    expect(late.isAcquired).toBe(false);
    expect(late.getMetadata('REASON_PHRASE')).toBe('Wait limit reached');
  });

  test('the newest first evict the oldest, whichever process they are of', async () => {
    const [here, there] = limiters({ queueLimit: 1, queueProcessingOrder: 'newestFirst' });
    const lease = await here!.acquire();
    const old = there!.acquire();
    await queued(1);
    const young = here!.acquire();
    expect((await old).getMetadata('REASON_PHRASE')).toBe('Evicted by a newer request');
    lease.dispose();
    expect((await young).isAcquired).toBe(true);
  });

  test('disposal gives back what is held and ends what waits', async () => {
    const [here, there] = limiters({});
    await here!.acquire();
    const waiting = here!.acquire();
    await queued(1);
    await one.dispose();
    expect((await waiting).getMetadata('REASON_PHRASE')).toBe('Limiter disposed');
    expect((await there!.acquire()).isAcquired).toBe(true);
    await expect(here!.acquire()).rejects.toMatchObject({ code: 'ERR_RL_OBJECT_DISPOSED' });
  });

  test.each([0, 10])(
    'disposal ends requests that are on their way, with a queue of %d, and leaves nothing of them',
    async (queueLimit) => {
      const [here, there] = limiters({ queueLimit, permitLimit: 2 });
      const asked = Array.from({ length: 4 }, () => here!.acquire());
      const rate = limiterOf(
        one.getFixedWindowLimiter(`${name}-${keys}`, () => ({
          permitLimit: 1,
          windowMs: 3_600_000,
          queueLimit: 9,
        })),
      );
      const waiting = [rate.acquire(), rate.acquire()];
      await one.dispose();
      for (const lease of await Promise.all(asked))
        expect(lease.getMetadata('REASON_PHRASE')).toBe('Limiter disposed');
      expect((await there!.acquire(2, { maxWaitMs: 0 })).isAcquired).toBe(true);
      // One was granted, or came too late.
      expect((await waiting[1]!).isAcquired).toBe(false);
    },
  );

  test('counts of sixteen digits are leases like others', async () => {
    const [here, there] = limiters({ permitLimit: 2 ** 53 - 1, queueLimit: 2 ** 53 - 1 });
    const lease = await here!.acquire(2 ** 53 - 3);
    expect(lease.quota()[0]!.remaining).toBe(2);
    const waiting = there!.acquire(123_456_789_012_345);
    await queued(1);
    lease.dispose();
    expect((await waiting).isAcquired).toBe(true);
    await ((await waiting) as RemoteLease)[Symbol.asyncDispose]();
    expect((await here!.acquire(2 ** 53 - 1)).isAcquired).toBe(true);
  });

  /** Resolves when nobody waits in the server's queue any more. */
  async function left(): Promise<void> {
    const pattern = `ratelease:v1:{${name}-${keys}}:*:queue`;
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while ((await server.client.keys(pattern)).length > 0);
  }

  /** Resolves when so many wait in the server's queue. */
  async function queued(count: number): Promise<void> {
    const pattern = `ratelease:v1:{${name}-${keys}}:*:queue`;
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- until it is so
      const [key] = await server.client.keys(pattern);
      // oxlint-disable-next-line no-await-in-loop
      if (key !== undefined && (await server.client.zcard(key)) >= count) return;
    }
  }
});
