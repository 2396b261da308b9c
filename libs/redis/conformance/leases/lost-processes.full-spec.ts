import { setTimeout as after } from 'node:timers/promises';
import type { RemoteLease } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import type { ClientProcess } from '../processes/client-process.js';
import { ProcessesOnAServer } from '../processes/processes-on-a-server.js';

const TTL_MS = 1_000;

const host = ProcessesOnAServer.forTests();
/** A process that begins asks before it is connected, which may take a busy machine long. */
const start = (program: string): ClientProcess =>
  host.start(program, { options: { commandTimeoutMs: 10_000 } });

const options = (permitLimit: number): object => ({ permitLimit, queueLimit: 100, leaseTtlMs: TTL_MS });
const program = (key: string, limit: number): string => `
  const limiter = limiterOf(shared.getConcurrencyLimiter('${key}', () => (${JSON.stringify(options(limit))})));
  const leases = await Promise.all(Array.from({ length: ${limit} }, () => limiter.acquire()));
  say('holds');
`;
const limiterFor = (key: string, limit: number): ReturnType<typeof limiterOf> =>
  limiterOf(host.shared.getConcurrencyLimiter(key, () => options(limit) as never));

test('the permits of a process that was killed come back when its leases end, to those who wait', async () => {
  const holder = start(program('crash', 5));
  await holder.next();
  const limiter = limiterFor('crash', 5);
  expect((await limiter.acquire(1, { maxWaitMs: 0 })).isAcquired).toBe(false);
  await holder.kill();
  const killedMs = performance.now();
  const leases = await Promise.all(Array.from({ length: 5 }, () => limiter.acquire()));
  const waitedMs = performance.now() - killedMs;
  expect(leases.every((lease) => lease.isAcquired)).toBe(true);
  expect(waitedMs).toBeGreaterThan((TTL_MS * 2) / 3 - 150);
  expect(waitedMs).toBeLessThan(TTL_MS + 300);
  for (const lease of leases) lease.dispose();
});

test('a dead waiter at the head only delays those behind it', async () => {
  const limiter = limiterFor('dead-head', 1);
  const lease = await limiter.acquire();
  const waiter = start(`
    const limiter = limiterOf(shared.getConcurrencyLimiter('dead-head', () => (${JSON.stringify(options(1))})));
    void limiter.acquire();
    setTimeout(() => say('waits'), 150);
  `);
  await waiter.next();
  await waiter.kill();
  const behind = limiter.acquire();
  await after(50);
  const releasedMs = performance.now();
  lease.dispose();
  expect((await behind).isAcquired).toBe(true);
  expect(performance.now() - releasedMs).toBeLessThan(2 * TTL_MS + 300);
  (await behind).dispose();
});

test('a lease outlives its time while it is in use, and its signal stays quiet', async () => {
  const limiter = limiterFor('long', 1);
  const lease = (await limiter.acquire()) as RemoteLease;
  await after(2.5 * TTL_MS);
  expect((await limiter.acquire(1, { maxWaitMs: 0 })).isAcquired).toBe(false);
  expect(lease.signal.aborted).toBe(false);
  await lease[Symbol.asyncDispose]();
});

test('a process whose event loop stood still learns that it lost its lease', async () => {
  const holder = start(`
    const limiter = limiterOf(shared.getConcurrencyLimiter('stalled', () => (${JSON.stringify(options(1))})));
    const lease = await limiter.acquire();
    lease.signal.addEventListener('abort', () => say(lease.signal.reason.code));
    process.on('message', () => { const until = Date.now() + 1600; while (Date.now() < until); });
    say('holds');
  `);
  expect(await holder.next()).toBe('holds');
  const waiting = limiterFor('stalled', 1).acquire();
  holder.tell('stand still');
  const lease = await waiting;
  expect(lease.isAcquired).toBe(true);
  expect(await holder.next()).toBe('ERR_RL_LEASE_LOST');
  lease.dispose();
  await holder.kill();
});

test('a release of the past does nothing', async () => {
  const limiter = limiterFor('past', 1);
  const lease = await limiter.acquire();
  await host.client.del('test:v1:{past}');
  await host.client.del(...(await host.client.keys('test:v1:{past}:*')));
  expect((await limiter.acquire()).isAcquired).toBe(true);
  await (lease as RemoteLease)[Symbol.asyncDispose]();
  expect((await limiter.acquire(1, { maxWaitMs: 0 })).isAcquired).toBe(false);
});

test('a message that was lost only delays', async () => {
  const limiter = limiterFor('lost-message', 1);
  const lease = await limiter.acquire();
  const waiting = limiter.acquire();
  await after(50);
  await host.client.client('KILL', 'TYPE', 'pubsub');
  await (lease as RemoteLease)[Symbol.asyncDispose]();
  const granted = await waiting;
  expect(granted.isAcquired).toBe(true);
  granted.dispose();
});
