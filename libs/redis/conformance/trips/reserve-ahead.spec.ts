import type { RateLimitLease } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RedisPartitions } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { limiterOf } from '../oracle/limiter-pair.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const HOUR = 3_600_000;
const server = TestServer.forThisFile();

let shared: RedisPartitions;
let clock: FakeClock;
beforeEach(() => {
  shared = createRedisPartitions({ client: server.client, commandTimeoutMs: 30_000 });
  // It stands still unless a test moves it: requests are never slow here.
  clock = new FakeClock();
});
afterEach(() => shared.dispose());

type Window = ReturnType<typeof limiterOf>;
const windowOf = (key: string, permitLimit: number, options: object = {}): Window =>
  limiterOf(shared.getFixedWindowLimiter(key, () => ({ permitLimit, windowMs: HOUR, clock, ...options })));

const commands = (run: () => Promise<unknown>): Promise<number> => server.callsOf(run);

async function repeat(times: number, run: () => Promise<RateLimitLease>): Promise<number> {
  let granted = 0;
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let time = 0; time < times; time++) if ((await run()).isAcquired) granted++;
  return granted;
}

/** What the server says, asked past every reserve. */
async function left(key: string, permitLimit: number): Promise<number> {
  return (await windowOf(key, permitLimit).acquire(0)).quota()[0]!.remaining;
}

test('a key in use costs a trip for many requests, and none is granted too much', async () => {
  const limiter = windowOf('many', 10_000, { reserveAhead: 100 });
  let granted = 0;
  const sent = await commands(async () => (granted = await repeat(1_000, () => limiter.acquire())));
  expect(granted).toBe(1_000);
  // It reserves twice as many each time until it reserves a hundred.
  expect(sent).toBeLessThanOrEqual(1_000 / 100 + 10);
  expect(limiter.getStatistics()).toMatchObject({ totalSuccessfulLeases: 1_000, totalFailedLeases: 0 });
});

test('by default each request asks', async () => {
  const limiter = windowOf('default', 1_000);
  expect(await commands(() => repeat(50, () => limiter.acquire()))).toBe(50);
});

test('the quota goes down by one with each request, whether the server was asked or not', async () => {
  const limiter = windowOf('quota', 500, { reserveAhead: 20 });
  for (let request = 1; request <= 60; request++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const [quota] = (await limiter.acquire()).quota();
    expect(quota).toMatchObject({ limit: 500, remaining: 500 - request, windowMs: HOUR });
    expect(quota!.resetAfterMs).toBeGreaterThan(HOUR - 60_000);
  }
});

test('the quota counts what is reserved also for a request that is too large for it', async () => {
  const limiter = windowOf('large', 500, { reserveAhead: 20 });
  // Until something is reserved that isn't spent.
  expect(await repeat(10, () => limiter.acquire())).toBe(10);
  const beside = await left('large', 500);
  expect(beside).toBeLessThan(490);
  expect((await limiter.acquire(60)).quota()[0]).toMatchObject({ remaining: 430 });
  expect(await left('large', 500)).toBe(beside - 60);
  expect((await limiter.acquire()).quota()[0]).toMatchObject({ remaining: 429 });
});

test('the last of a limit are granted one by one: none is stranded in another process', async () => {
  const other = createRedisPartitions({ client: server.client, commandTimeoutMs: 30_000 });
  const options = { permitLimit: 200, windowMs: HOUR, reserveAhead: 50, instances: 2, clock };
  const limiters = [shared, other].map((one) => limiterOf(one.getFixedWindowLimiter('last', () => options)));
  let granted = 0;
  for (let turn = 0; turn < 60; turn++)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (const limiter of limiters) granted += await repeat(5, () => limiter.acquire());
  expect(granted).toBe(200);
  const refused = await limiters[0]!.acquire();
  expect(refused.getMetadata('RETRY_AFTER')).toBeGreaterThan(HOUR - 60_000);
  expect(refused.quota()[0]!.remaining).toBe(0);
  await other.dispose();
});

test('simultaneous requests go in one call with the reservation', async () => {
  const limiter = windowOf('together', 10_000, { reserveAhead: 100 });
  await limiter.acquire();
  const all = async (count: number): Promise<void> => {
    const leases = await Promise.all(Array.from({ length: count }, () => limiter.acquire()));
    expect(leases.every((lease) => lease.isAcquired)).toBe(true);
  };
  expect(await commands(() => all(60))).toBe(1);
  expect(await commands(() => all(60))).toBe(0);
});

test('what is not spent within half a second goes back', async () => {
  const limiter = windowOf('idle', 1_000, { reserveAhead: 100 });
  await repeat(20, () => limiter.acquire());
  expect(await left('idle', 1_000)).toBeLessThan(980);
  clock.advance(499);
  expect(await left('idle', 1_000)).toBeLessThan(980);
  clock.advance(1);
  expect(await left('idle', 1_000)).toBe(980);
  // And nothing stays here: a second later there is no timer.
  clock.advance(1_000);
  expect(clock.pendingTimers).toBe(0);
});

test('what is not spent goes back with the end of the limiter, and of all', async () => {
  const limiter = windowOf('end', 1_000, { reserveAhead: 100 });
  await repeat(20, () => limiter.acquire());
  void limiter.dispose?.();
  expect(await left('end', 1_000)).toBe(980);
  const another = windowOf('end', 1_000, { reserveAhead: 100 });
  await repeat(20, () => another.acquire());
  await shared.dispose();
  shared = createRedisPartitions({ client: server.client, commandTimeoutMs: 30_000 });
  expect(await left('end', 1_000)).toBe(960);
});

test('a process that ends while it reserves gives back what comes then', async () => {
  const limiter = windowOf('flight', 1_000, { reserveAhead: 100 });
  await limiter.acquire();
  const leases = Promise.all(Array.from({ length: 40 }, () => limiter.acquire()));
  const ended = shared.dispose();
  await ended;
  const granted = (await leases).filter((lease) => lease.isAcquired).length;
  shared = createRedisPartitions({ client: server.client, commandTimeoutMs: 30_000 });
  expect(await left('flight', 1_000)).toBe(999 - granted);
});

test('a large request is granted what small ones have reserved', async () => {
  const limiter = windowOf('large', 100, { reserveAhead: 100 });
  await repeat(20, () => limiter.acquire());
  expect(await left('large', 100)).toBeLessThan(80);
  expect((await limiter.acquire(80)).isAcquired).toBe(true);
  expect((await limiter.acquire(1)).isAcquired).toBe(false);
});

test('a chain gives back what it took out of a reserve', async () => {
  const perUser = createPartitionedRateLimiter(
    (user: string) =>
      shared.getFixedWindowLimiter(user, () => ({ permitLimit: 1_000, windowMs: HOUR, reserveAhead: 50 })),
    { clock },
  );
  const all = createPartitionedRateLimiter(() =>
    shared.getFixedWindowLimiter('chain-all', () => ({ permitLimit: 20, windowMs: HOUR })),
  );
  const chain = createChainedPartitionedRateLimiter(perUser, all);
  expect(await repeat(30, () => chain.acquire('chain'))).toBe(20);
  void chain.dispose();
  await shared.dispose();
  shared = createRedisPartitions({ client: server.client, commandTimeoutMs: 30_000 });
  expect(await left('chain', 1_000)).toBe(980);
});

test('limiters of one call are reserved together', async () => {
  const options = { windowMs: HOUR, reserveAhead: 50 };
  const chain = createChainedPartitionedRateLimiter(
    createPartitionedRateLimiter(
      (user: string) => shared.getFixedWindowLimiter(user, () => ({ permitLimit: 900, ...options })),
      { clock },
    ),
    createPartitionedRateLimiter(
      (user: string) => shared.getFixedWindowLimiter(user, () => ({ permitLimit: 300, ...options })),
      { clock },
    ),
  );
  let granted = 0;
  const sent = await commands(async () => (granted = await repeat(320, () => chain.acquire('both'))));
  expect(granted).toBe(300);
  expect(sent).toBeLessThan(80);
  void chain.dispose();
});

test('refusals are remembered beside it', async () => {
  const limiter = windowOf('refused', 30, { reserveAhead: 10, refusalCacheMs: HOUR });
  expect(await repeat(31, () => limiter.acquire())).toBe(30);
  expect(await commands(() => repeat(50, () => limiter.acquire()))).toBe(0);
});

test('an abort leaves nothing charged', async () => {
  const limiter = windowOf('abort', 1_000, { reserveAhead: 100 });
  await repeat(10, () => limiter.acquire());
  const abort = new AbortController();
  const asked = Array.from({ length: 50 }, () => limiter.acquire(1, { signal: abort.signal }));
  abort.abort(new Error('enough'));
  const settled = await Promise.allSettled(asked);
  const granted = settled.filter(({ status }) => status === 'fulfilled').length;
  await shared.dispose();
  shared = createRedisPartitions({ client: server.client, commandTimeoutMs: 30_000 });
  expect(await left('abort', 1_000)).toBe(990 - granted);
});

test('what is reserved is granted while the store is away', async () => {
  const limiter = windowOf('away', 1_000, { reserveAhead: 20, commandTimeoutMs: 1_000 });
  await repeat(20, () => limiter.acquire());
  server.pause();
  const granted = await repeat(40, () => limiter.acquire());
  server.resume();
  expect(granted).toBeGreaterThan(0);
  expect(granted).toBeLessThanOrEqual(20);
});
