import type { AsyncRateLimiter, RateLimitLease } from '@ratelease/limiters';
import type { RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { ProcessesOnAServer } from '../processes/processes-on-a-server.js';

const OPTIONS = { permitLimit: 1, queueLimit: 10, leaseTtlMs: 1_500 };

const host = ProcessesOnAServer.forTests();

describe.each(['ioredis', 'node-redis'])('a process that stands still, with %s', (client) => {
  const slots = (): AsyncRateLimiter => limiterOf(host.shared.getConcurrencyLimiter(client, () => OPTIONS));

  test('does not take a lease for its own that it was granted, and lost, meanwhile', async () => {
    const lease = await slots().acquire();
    expect(lease.isAcquired).toBe(true);
    const waiter = host.start(
      `
      const limiter = limiterOf(shared.getConcurrencyLimiter('${client}', () => (${JSON.stringify(OPTIONS)})));
      const waiting = limiter.acquire();
      waiting.then(async (lease) => {
        say(lease.isAcquired ? 'granted' : 'refused');
        await lease[Symbol.asyncDispose]();
        say('given back');
      });
      await limiter.acquire(0, { maxWaitMs: 0 });
      say('waits');
      process.once('message', (ms) => {
        say('stands still');
        const until = Date.now() + Number(ms);
        setImmediate(() => { while (Date.now() < until); });
      });
    `,
      { client, options: { commandTimeoutMs: 10_000 } },
    );
    expect(await waiter.next()).toBe('waits');
    // The message is heard only then.
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while ((await channels()) === 0);
    waiter.tell(String(2.4 * OPTIONS.leaseTtlMs));
    expect(await waiter.next()).toBe('stands still');
    lease.dispose();
    // What it is granted it doesn't renew.
    const next = await slots().acquire();
    expect(next.isAcquired).toBe(true);
    const said = waiter.next();
    const heard = [said.then(() => 'the waiter'), isOver(next).then(() => 'whoever has it')];
    expect(await Promise.race(heard)).toBe('whoever has it');
    expect(await said).toBe('granted');
    expect(await waiter.next()).toBe('given back');
    await waiter.kill();
  });
});

test('a process that stands still while it renews a lease keeps it: the answer is read before the time is looked at', async () => {
  let standsStillUntilMs = 0;
  const stoppable = new Proxy(host.client, {
    get: (redis, name) => {
      const value: unknown = Reflect.get(redis, name, redis);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const sent: unknown = Reflect.apply(value, redis, args);
        if (name === 'eval' || name === 'evalsha') while (performance.now() < standsStillUntilMs);
        return sent;
      };
    },
  });
  const shared = createRedisPartitions({ client: stoppable, prefix: 'test', commandTimeoutMs: 10_000 });
  const limiter = limiterOf(shared.getConcurrencyLimiter('renewed', () => OPTIONS));
  const ttlMs = OPTIONS.leaseTtlMs;
  const lease = (await limiter.acquire()) as RemoteLease;
  const sinceMs = performance.now();
  // What it sends next is the renewal, a third of the time later; the lease would have ended meanwhile.
  standsStillUntilMs = sinceMs + 1.1 * ttlMs;
  await new Promise((resolve) => setTimeout(resolve, 2 * ttlMs));
  expect(lease.signal.aborted).toBe(false);
  expect(standsStillUntilMs).toBeLessThan(performance.now());
  await shared.dispose();
});

async function channels(): Promise<number> {
  return ((await host.client.pubsub('CHANNELS', 'test:*')) as string[]).length;
}

/** Some time after the other one goes on. */
async function isOver(lease: RateLimitLease): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 2_600));
  lease.dispose();
}
