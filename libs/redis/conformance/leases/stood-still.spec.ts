import type { AsyncRateLimiter } from '@ratelease/limiters';
import type { Redis } from 'ioredis';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { standStill } from '../outages/standing-still.js';
import { ProcessesOnAServer } from '../processes/processes-on-a-server.js';

const TTL_MS = 1_500;
const OPTIONS = { permitLimit: 1, queueLimit: 10, leaseTtlMs: TTL_MS };

const host = ProcessesOnAServer.forTests();

const slotsOf = (key: string): string =>
  `limiterOf(shared.getConcurrencyLimiter('${key}', () => (${JSON.stringify(OPTIONS)})))`;

/** When somebody had the permit, by the clock of the machine. */
interface Time {
  readonly fromMs: number;
  readonly untilMs: number;
}

describe.each(['ioredis', 'node-redis'])('a process that stands still, with %s', (client) => {
  const slots = (): AsyncRateLimiter => limiterOf(host.shared.getConcurrencyLimiter(client, () => OPTIONS));

  test('does not take a lease for its own that it was granted, and lost, meanwhile', async () => {
    const lease = await slots().acquire();
    expect(lease.isAcquired).toBe(true);
    const waiter = host.start(
      `
      const limiter = ${slotsOf(client)};
      const waiting = limiter.acquire();
      waiting.then(async (lease) => {
        const fromMs = Date.now();
        await new Promise((resolve) => setImmediate(resolve));
        const untilMs = Date.now();
        await lease[Symbol.asyncDispose]();
        say(lease.isAcquired ? { fromMs, untilMs } : 'refused');
      });
      await limiter.acquire(0, { maxWaitMs: 0 });
      say('waits');
      process.once('message', (ms) => {
        say('stands still');
        setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms)));
      });
    `,
      { client, options: { commandTimeoutMs: 10_000 } },
    );
    expect(await waiter.next()).toBe('waits');
    // The message is heard only then.
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while ((await channels()) < 2);
    waiter.tell(String(2.4 * TTL_MS));
    expect(await waiter.next()).toBe('stands still');
    lease.dispose();
    // What it is granted it doesn't renew.
    const next = await slots().acquire();
    expect(next.isAcquired).toBe(true);
    const here = await held(next as RemoteLease, 2_600);
    const there = (await waiter.next()) as Time;
    // Who gets it first is for the machine to say.
    expect(there.fromMs >= here.untilMs || there.untilMs <= here.fromMs).toBe(true);
    await waiter.kill();
  });
});

test('a process that stands still while it renews a lease keeps it: the answer is read before the time is looked at', async () => {
  let standsStillUntilMs = 0;
  const shared = partitionsThat(() => standStill(standsStillUntilMs - performance.now()));
  const limiter = limiterOf(shared.getConcurrencyLimiter('renewed', () => OPTIONS));
  const lease = (await limiter.acquire()) as RemoteLease;
  const sinceMs = performance.now();
  // What it sends next is the renewal, a third of the time later; the lease would have ended meanwhile.
  standsStillUntilMs = sinceMs + 1.1 * TTL_MS;
  await new Promise((resolve) => setTimeout(resolve, 2 * TTL_MS));
  expect(lease.signal.aborted).toBe(false);
  expect(standsStillUntilMs).toBeLessThan(performance.now());
  await shared.dispose();
});

test('a process that stands still while it renews its wait does not take the lease that the answer tells of', async () => {
  const key = 'wait-renewed';
  const of = (set: string): string => `test:v1:{${key}}:concurrency:1/10/${TTL_MS}000:${set}`;
  const dead = host.start(`(await ${slotsOf(key)}.acquire()).isAcquired && say('has it');`);
  expect(await dead.next()).toBe('has it');
  const next = host.start(`
    process.once('message', async (member) => {
      say('watches');
      while ((await client.zscore('${of('queue')}', member)) !== null);
      const lease = await ${slotsOf(key)}.acquire();
      say('has it');
      process.once('message', () => lease.dispose());
    });
    await client.ping();
    say('is ready');
  `);
  expect(await next.next()).toBe('is ready');
  let endUs = Infinity;
  let hasStoodStill = false;
  const shared = partitionsThat(() => {
    if (hasStoodStill || Date.now() * 1_000 <= endUs) return;
    // The renewal that gives it the lease of the dead one was sent.
    hasStoodStill = true;
    standStill(3 * TTL_MS);
  });
  const waiting = limiterOf(shared.getConcurrencyLimiter(key, () => OPTIONS)).acquire();
  const isQueued = async (): Promise<string> => {
    while ((await host.client.zcard(of('queue'))) === 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
    return 'waits';
  };
  await isQueued();
  next.tell((await host.client.zrange(of('queue'), 0, 0))[0]!);
  expect(await next.next()).toBe('watches');
  await dead.kill();
  endUs = Number((await host.client.zrange(of('leases'), 0, 0, 'WITHSCORES'))[1]);
  expect(await next.next()).toBe('has it');
  expect(hasStoodStill).toBe(true);
  expect(await Promise.race([waiting.then(() => 'has it too'), isQueued()])).toBe('waits');
  next.tell('give it back');
  expect((await waiting).isAcquired).toBe(true);
  await shared.dispose();
  await next.kill();
});

/** Limiters whose process does something right after it has sent a script. */
function partitionsThat(onSent: () => void): RedisPartitions {
  const client = new Proxy(host.client, {
    get: (redis: Redis, name) => {
      const value: unknown = Reflect.get(redis, name, redis);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const sent: unknown = Reflect.apply(value, redis, args);
        if (name === 'eval' || name === 'evalsha') onSent();
        return sent;
      };
    },
  });
  return createRedisPartitions({ client, prefix: 'test', commandTimeoutMs: 10_000 });
}

async function channels(): Promise<number> {
  return ((await host.client.pubsub('CHANNELS', 'test:*')) as string[]).length;
}

/** Keeps a lease for some time, or until it is lost, as on a machine that is too busy to renew it. */
async function held(lease: RemoteLease, ms: number): Promise<Time> {
  const fromMs = Date.now();
  await new Promise<void>((resolve) => {
    lease.signal.addEventListener('abort', () => resolve());
    setTimeout(resolve, ms);
  });
  const untilMs = Date.now();
  lease.dispose();
  return { fromMs, untilMs };
}
