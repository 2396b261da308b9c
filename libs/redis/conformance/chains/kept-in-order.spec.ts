import type { AsyncPartitionedRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import { Redis } from 'ioredis';
import type { RedisPartitions, RemoteLease } from '../../src/index.js';
import { createRedisPartitions } from '../../src/index.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { OverturningClient } from '../leases/overturning-client.js';

const server = TestServer.forThisFile();
const KEY = 'k';
/** Who is told by no message looks by himself only after a third of that. */
const LEASE_TTL_MS = 90_000;
/** A request keeps what it gets once it was passed over so often. */
const TURNS = 4;

type Limiter = AsyncPartitionedRateLimiter<string>;
type Name = 'a' | 'b';

let rounds = 0;
let prefix: string;
let shared: RedisPartitions;
let others: RedisPartitions;
beforeEach(() => {
  prefix = `kept-${rounds++}`;
  [shared, others] = [server.client, server.client].map((client) =>
    createRedisPartitions({ client, prefix, commandTimeoutMs: 10_000 }),
  ) as [RedisPartitions, RedisPartitions];
});
afterEach(() => Promise.all([shared.dispose(), others.dispose()]));

function running(
  partitions: RedisPartitions,
  name: Name,
  { permitLimit = 2, queueLimit = 2, leaseTtlMs = LEASE_TTL_MS } = {},
): Limiter {
  return createPartitionedRateLimiter((key: string) =>
    partitions.getConcurrencyLimiter(key, () => ({ permitLimit, queueLimit, leaseTtlMs, name })),
  );
}

const chain = (): Limiter => createChainedPartitionedRateLimiter(running(shared, 'a'), running(shared, 'b'));
const giveBack = (lease: RateLimitLease): Promise<void> => (lease as RemoteLease)[Symbol.asyncDispose]();
const stateKey = (): string => `${prefix}:v1:{${KEY}}`;

/** The permits in use of a limiter (`u`), or those who wait for it (`w`). */
async function counted(name: Name, what: 'u' | 'w'): Promise<number> {
  return Number(await server.client.hget(stateKey(), `${await fieldsOf(name)}${what}`));
}

/** What the fields and the keys of a limiter begin with. */
async function fieldsOf(name: Name): Promise<string> {
  const fields = await server.client.hkeys(stateKey());
  return fields.find((field) => field.startsWith(`${name}:`) && field.endsWith(':u'))!.slice(0, -1);
}

async function waitedFor(name: Name): Promise<void> {
  while ((await counted(name, 'w')) !== 1) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Somebody else works with both permits of a limiter. */
async function taken(
  name: Name,
  options: { partitions?: RedisPartitions; leaseTtlMs?: number } = {},
): Promise<RateLimitLease> {
  const lease = await running(options.partitions ?? others, name, options).acquire(KEY, 2, { maxWaitMs: 0 });
  expect(lease.isAcquired).toBe(true);
  return lease;
}

/**
 * A request for both permits of each that was passed over so often that it keeps what it gets, in that order; it waits
 * for a. Also the lease of who works with that.
 */
async function passedOver(
  last: Parameters<typeof taken>[1] = {},
  limiters = chain(),
): Promise<[Promise<RateLimitLease>, RateLimitLease]> {
  let [name, other]: [Name, Name] = ['a', 'b'];
  let lease = await taken('a');
  const asked = limiters.acquire(KEY, 2);
  for (let turn = 1; turn <= TURNS; turn++) {
    // oxlint-disable no-await-in-loop -- one turn after the other
    await waitedFor(name);
    const next = await taken(other, turn === TURNS ? last : {});
    await giveBack(lease);
    // oxlint-enable no-await-in-loop
    [name, other, lease] = [other, name, next];
  }
  await waitedFor('a');
  return [asked, lease];
}

describe('a request that keeps what it gets of several limiters', () => {
  it('begins again where one has lost its lease and the process does not know it, without asking it again and again', async () => {
    const [asked, leaseOfA] = await passedOver();
    const leaseOfB = await taken('b');
    await giveBack(leaseOfA);
    await waitedFor('b');
    const a = await fieldsOf('a');
    // As after a failover to a replica that had not heard of it.
    await server.client.del(`${stateKey()}:${a}leases`);
    const calls = await server.callsOf(async () => {
      await server.client.hset(stateKey(), `${a}u`, 0);
      const again = await taken('a');
      await giveBack(leaseOfB);
      await waitedFor('a');
      await new Promise((resolve) => setTimeout(resolve, 100));
      await giveBack(again);
      await giveBack(await asked);
    });
    expect((await asked).isAcquired).toBe(true);
    expect(calls).toBeLessThan(20);
  });

  it('does not take the message about one of them, which comes late, for one about the next', async () => {
    const client = new Redis(server.port, '127.0.0.1');
    const dying = createRedisPartitions({ client, prefix, commandTimeoutMs: 10_000 });
    const [asked] = await passedOver({ partitions: dying, leaseTtlMs: 1_000 });
    const id = await server.client.zrange(`${stateKey()}:${await fieldsOf('a')}queue`, 0, 0);
    const leaseOfB = await taken('b');
    // Its lease ends; who waits is told of his turn by the answer to his look, and a moment later by the message.
    client.disconnect();
    await waitedFor('b');
    await new Promise((resolve) => setTimeout(resolve, 100));
    // Had it taken that for its turn at b, it would have begun again under another id.
    expect(await server.client.zrange(`${stateKey()}:${await fieldsOf('a')}leases`, 0, -1)).toEqual(id);
    expect(await server.client.zrange(`${stateKey()}:${await fieldsOf('b')}queue`, 0, -1)).toEqual(id);
    await giveBack(leaseOfB);
    await giveBack(await asked);
    expect((await asked).isAcquired).toBe(true);
  });

  it('is served where it lost its place, whenever the server hears that the place was given up', async () => {
    const client = new OverturningClient(server.port);
    const ordering = createRedisPartitions({ client: client.asCluster, prefix, commandTimeoutMs: 10_000 });
    let permitLimit = 2;
    const b = createPartitionedRateLimiter((key: string) =>
      ordering.getConcurrencyLimiter(key, () => ({
        ...{ permitLimit, queueLimit: 10, leaseTtlMs: LEASE_TTL_MS, name: 'b' },
      })),
    );
    const [asked, leaseOfA] = await passedOver(
      {},
      createChainedPartitionedRateLimiter(running(ordering, 'a'), b),
    );
    const leaseOfB = await taken('b');
    await giveBack(leaseOfA);
    await waitedFor('b');
    client.holdReleases();
    // Too few for it, and enough again before it has gone on.
    for (permitLimit of [1, 2]) {
      b.refreshOptions!();
      b.getStatistics(KEY);
    }
    await client.untilDecided();
    client.letGo();
    await waitedFor('b');
    await giveBack(leaseOfB);
    await giveBack(await asked);
    expect((await asked).isAcquired).toBe(true);
    expect([await counted('a', 'u'), await counted('b', 'u'), await counted('b', 'w')]).toEqual([0, 0, 0]);
    await ordering.dispose();
    client.close();
    // Sooner than a renewal would tell it that it has lost its place again.
  }, 20_000);

  it('is told, where the queue is full, how many permits the limiter that refuses has left', async () => {
    const [asked, leaseOfA] = await passedOver();
    const one = await running(others, 'b').acquire(KEY, 1, { maxWaitMs: 0 });
    const inQueue = running(others, 'b').acquire(KEY, 2);
    await waitedFor('b');
    await giveBack(leaseOfA);
    const refused = await asked;
    expect(refused.isAcquired).toBe(false);
    expect(refused.getMetadata('REASON_PHRASE')).toBe('Queue limit reached');
    expect(refused.quota().map(({ remaining }) => remaining)).toEqual([0, 1]);
    await giveBack(one);
    await giveBack(await inQueue);
  });
});
