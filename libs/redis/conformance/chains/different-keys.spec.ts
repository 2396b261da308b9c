import type { AsyncPartitionedRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import { Redis } from 'ioredis';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const server = TestServer.forThisFile();
/** A request keeps what it gets once it had to give back so often. */
const TURNS = 4;

type Limiter = AsyncPartitionedRateLimiter<string>;

let rounds = 0;
let prefix: string;
let shared: RedisPartitions;
let others: RedisPartitions;
beforeEach(() => {
  prefix = `keys-${rounds++}`;
  [shared, others] = [server.client, server.client].map((client) =>
    createRedisPartitions({ client, prefix, commandTimeoutMs: 10_000 }),
  ) as [RedisPartitions, RedisPartitions];
});
afterEach(() => Promise.all([shared.dispose(), others.dispose()]));

interface Numbers {
  permitLimit?: number;
  queueLimit?: number;
  leaseTtlMs?: number;
}

/** The concurrency limiter of a key, whatever is limited. */
function slots(
  key: string,
  { permitLimit = 1, queueLimit = 5, leaseTtlMs }: Numbers = {},
  of = shared,
): Limiter {
  return createPartitionedRateLimiter(() =>
    of.getConcurrencyLimiter(key, () => ({ permitLimit, queueLimit, name: 'slots', leaseTtlMs })),
  );
}

const rate = (key: string, permitLimit: number): Limiter =>
  createPartitionedRateLimiter(() =>
    shared.getFixedWindowLimiter(key, () => ({ permitLimit, windowMs: 3_600_000, name: 'rate' })),
  );
const chainOf = createChainedPartitionedRateLimiter<string>;

/** The permits in use of the limiter of a key (`u`), or those who wait for it (`w`). */
async function counted(key: string, what: 'u' | 'w'): Promise<number> {
  const field = `slots:concurrency:${what}`;
  return Number(await server.client.hget(`${prefix}:v1:{${key}}`, field));
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 2));
}

const waitedFor = (key: string): Promise<void> => until(async () => (await counted(key, 'w')) === 1);
const giveBack = (lease: RateLimitLease): Promise<void> => (lease as RemoteLease)[Symbol.asyncDispose]();

/** Somebody else works with the permit of a key. */
async function taken(key: string, numbers?: Numbers, of = others): Promise<RateLimitLease> {
  const lease = await slots(key, numbers, of).acquire('', 1, { maxWaitMs: 0 });
  expect(lease.isAcquired).toBe(true);
  return lease;
}

/**
 * A request for two keys that gave back what it had so often that it keeps what it gets. It has just got the first of them
 * and waits for the other one; also the lease of who has that.
 */
async function passedOver(
  keys: [string, string],
  numbers?: Numbers,
): Promise<[Promise<RateLimitLease>, RateLimitLease]> {
  let [key, other] = keys;
  let lease = await taken(key, numbers);
  const asked = chainOf(...keys.map((one) => slots(one, numbers))).acquire('');
  await waitedFor(key);
  for (let turn = 1; turn <= TURNS + 1; turn++) {
    // oxlint-disable no-await-in-loop -- one turn after the other
    const next = await taken(other, numbers);
    await giveBack(lease);
    await waitedFor(other);
    // oxlint-enable no-await-in-loop
    [key, other, lease] = [other, key, next];
  }
  return [asked, lease];
}

describe('a request for limits of different keys', () => {
  it('asks each of them once, and gives back to each of them once', async () => {
    const chain = chainOf(slots('a'), rate('b', 5), slots('c'));
    await giveBack(await chain.acquire(''));
    expect(await server.callsOf(() => chain.acquire('').then(giveBack))).toBe(5);
  });

  it('asks those of one key together, those of a chain within the chain too', async () => {
    const chain = chainOf(rate('a', 5), chainOf(slots('a'), rate('b', 5)));
    await giveBack(await chain.acquire(''));
    expect(await server.callsOf(() => chain.acquire('').then(giveBack))).toBe(3);
  });

  it('holds nothing of the others while it waits for one', async () => {
    const leaseOfB = await taken('b');
    const asked = chainOf(slots('a'), rate('c', 3), slots('b')).acquire('');
    await waitedFor('b');
    await until(async () => (await counted('a', 'u')) === 0);
    const meanwhile = await chainOf(slots('a'), rate('c', 3)).acquire('', 1, { maxWaitMs: 0 });
    expect(meanwhile.quota().map(({ remaining }) => remaining)).toEqual([0, 2]);
    await giveBack(leaseOfB);
    await waitedFor('a');
    await until(async () => (await counted('b', 'u')) === 0);
    await giveBack(meanwhile);
    const lease = await asked;
    expect(lease.isAcquired).toBe(true);
    expect(lease.quota().map(({ member, remaining }) => [member, remaining])).toEqual([
      [0, 0],
      [1, 1],
      [2, 0],
    ]);
    await giveBack(lease);
  });

  it('keeps what it has waited for once it had to give it back four times', async () => {
    const [asked, leaseOfB] = await passedOver(['a', 'b']);
    expect(await counted('a', 'u')).toBe(1);
    await giveBack(leaseOfB);
    await giveBack(await asked);
    expect((await asked).isAcquired).toBe(true);
    expect([await counted('a', 'u'), await counted('b', 'u')]).toEqual([0, 0]);
  });

  it('gives it back even then where it comes later in the order of all than what it waits for', async () => {
    const [asked, leaseOfA] = await passedOver(['b', 'a']);
    await until(async () => (await counted('b', 'u')) === 0);
    const leaseOfB = await taken('b');
    await giveBack(leaseOfA);
    await waitedFor('b');
    expect(await counted('a', 'u')).toBe(1);
    await giveBack(leaseOfB);
    await giveBack(await asked);
    expect((await asked).isAcquired).toBe(true);
  });

  it('counts as granted and refused what came of it, not what it gave back meanwhile', async () => {
    const [a, b] = [slots('a'), slots('b', { queueLimit: 1 })];
    const leaseOfB = await taken('b', { queueLimit: 1 });
    const asked = chainOf(a, b).acquire('');
    await waitedFor('b');
    expect((await chainOf(a, b).acquire('')).isAcquired).toBe(false);
    expect(a.getStatistics('')).toMatchObject({ totalSuccessfulLeases: 0, totalFailedLeases: 0 });
    expect(b.getStatistics('')).toMatchObject({ totalSuccessfulLeases: 0, totalFailedLeases: 1 });
    await giveBack(leaseOfB);
    await giveBack(await asked);
    expect(a.getStatistics('')).toMatchObject({ totalSuccessfulLeases: 1, totalFailedLeases: 0 });
    expect(b.getStatistics('')).toMatchObject({ totalSuccessfulLeases: 1, totalFailedLeases: 1 });
  });

  it('waits no longer than it may, for all of them together', async () => {
    const clock = new FakeClock();
    const timed = (key: string): Limiter =>
      createPartitionedRateLimiter(
        () => shared.getConcurrencyLimiter(key, () => ({ permitLimit: 1, queueLimit: 5, name: 'slots' })),
        { clock },
      );
    const leases = [await taken('a'), await taken('b')];
    const asked = chainOf(timed('a'), timed('b')).acquire('', 1, { maxWaitMs: 400 });
    await waitedFor('a');
    clock.advance(300);
    await giveBack(leases[0]!);
    await waitedFor('b');
    clock.advance(99);
    expect(await Promise.race([asked, 'still waits'])).toBe('still waits');
    clock.advance(1);
    expect((await asked).getMetadata('REASON_PHRASE')).toBe('Wait limit reached');
    await giveBack(leases[1]!);
    await until(async () => (await counted('a', 'u')) + (await counted('b', 'u')) === 0);
  });
});

describe('permits of one key that are lost', () => {
  const leaseTtlMs = 1_000;
  /** As after a failover to a replica that had not heard of it. */
  const lose = async (key: string): Promise<void> => {
    await server.client.del(`${prefix}:v1:{${key}}:slots:concurrency:leases`);
    await server.client.hset(`${prefix}:v1:{${key}}`, 'slots:concurrency:u', 0);
  };

  it('are waited for anew by who waits for another', async () => {
    const [asked, leaseOfB] = await passedOver(['a', 'b'], { leaseTtlMs });
    await lose('a');
    const again = await taken('a', { leaseTtlMs });
    // Until it has been told that it can't be renewed.
    await new Promise((resolve) => setTimeout(resolve, leaseTtlMs));
    await giveBack(leaseOfB);
    await waitedFor('a');
    await until(async () => (await counted('b', 'u')) === 0);
    await giveBack(again);
    await giveBack(await asked);
    expect((await asked).isAcquired).toBe(true);
  });

  it('are told of by the signal of the lease', async () => {
    const lease = (await chainOf(slots('a', { leaseTtlMs }), slots('b')).acquire('')) as RemoteLease;
    expect(lease.signal.aborted).toBe(false);
    await lose('a');
    await new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
    expect(lease.signal.reason).toMatchObject({ name: 'LeaseLostError' });
    await giveBack(lease);
    expect(await counted('b', 'u')).toBe(0);
  });
});

test('limits of different keys whose store is gone are waited for in either order', async () => {
  const client = new Redis({ host: '127.0.0.1', port: 1, lazyConnect: true });
  client.on('error', () => undefined);
  const local = createRedisPartitions({
    client,
    commandTimeoutMs: 20,
    whenUnavailable: 'local',
    instances: 1,
  });
  const [a, b] = [slots('a', {}, local), slots('b', {}, local)];
  const held = [await a.acquire(''), await b.acquire('')];
  const asked = [chainOf(a, b), chainOf(b, a)].map((chain) => chain.acquire(''));
  await until(
    async () => a.getStatistics('')!.currentQueuedCount + b.getStatistics('')!.currentQueuedCount === 2,
  );
  for (const lease of held) lease.dispose();
  const first = await Promise.race(asked);
  expect(first.isAcquired).toBe(true);
  first.dispose();
  for (const lease of await Promise.all(asked)) {
    expect(lease.isAcquired).toBe(true);
    lease.dispose();
  }
  await local.dispose();
  client.disconnect();
});
