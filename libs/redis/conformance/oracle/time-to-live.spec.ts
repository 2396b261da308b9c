import * as fc from 'fast-check';
import type { RemoteLease } from '../../src/index.js';
import { buildRedisPartitions } from '../../src/create-redis-partitions.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import type { Setup } from './limiter-pair.js';
import { limiterOf, RATES, shared } from './limiter-pair.js';
import { boundedTrace } from '../../../../test/traces/bounded-trace.js';

const START_US = 1_783_228_800_123_456;
const DAY_US = 86_400_000_000;
/** Kept for so long after all permits are back, and at most so much longer. */
const KEPT_MS = 10_000;
const AHEAD_MS = 1_000;
const commandTimeoutMs = 30_000;

const server = TestServer.forThisFile();
let keys = 0;

/** From windows of a millisecond to those of forty days, and limits up to 10¹² where the arithmetic is exact. */
const anySetup: fc.Arbitrary<Setup> = fc
  .record({
    windowUs: fc.constantFrom(1_000, 1_500, 60_000_000, DAY_US, 40 * DAY_US),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    segments: fc.integer({ min: 1, max: 12 }),
    tokens: fc.integer({ min: 1, max: 1_000 }),
  })
  .map(({ windowUs, share, segments, tokens }) => {
    const most = Math.min(1e12, Math.floor((2 ** 53 - 1) / windowUs));
    return { windowUs, limit: 1 + Math.floor((most - 1) * share ** 4), segments, tokens };
  });
const anySteps = fc.array(
  fc.record({
    share: fc.constantFrom(0, 1e-9, 0.3, 0.7, 1),
    afterWindows: fc.constantFrom(0, 0, 1e-3, 0.4, 1, 2.5),
  }),
  { minLength: 1, maxLength: 12 },
);

async function stored(key: string): Promise<Record<string, string>> {
  return server.client.hgetall(`ttl:v1:{${key}}`);
}

test.each(RATES)(
  'each key of a %s has a TTL after each operation, and a refusal writes nothing',
  async (rate) => {
    let nowUs = START_US;
    await using partitions = buildRedisPartitions(
      { client: server.client, prefix: 'ttl', commandTimeoutMs },
      () => nowUs,
    );
    const property = fc.asyncProperty(
      anySetup,
      anySteps,
      boundedTrace(async (setup, steps) => {
        const key = `${rate}-${keys++}`;
        const limiter = shared(partitions, rate, setup, key);
        for (const { share, afterWindows } of steps) {
          nowUs += Math.floor(afterWindows * setup.windowUs);
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          const before = await stored(key);
          // oxlint-disable-next-line no-await-in-loop
          const lease = await limiter.acquire(Math.min(setup.limit, Math.ceil(setup.limit * share)));
          // oxlint-disable-next-line no-await-in-loop
          const [after, ttlMs] = await Promise.all([stored(key), server.client.pttl(`ttl:v1:{${key}}`)]);
          if (!lease.isAcquired) expect(after).toEqual(before);
          // What was written is read as the same: no number lost digits.
          expect(Object.values(after).join(' ')).not.toMatch(/\de[+]|\.\d|nan|inf/i);
          if (Object.keys(after).length === 0) continue;
          expect(ttlMs).toBeGreaterThan(0);
          // oxlint-disable-next-line no-await-in-loop
          const { resetAfterMs } = (await limiter.acquire(0)).quota()[0]!;
          if (lease.isAcquired && share > 0) {
            expect(ttlMs).toBeGreaterThan(resetAfterMs! + KEPT_MS - AHEAD_MS);
          }
        }
      }),
    );
    await fc.assert(property, { numRuns: 60 });
  },
);

test('a bucket that refills slower than its key is used forgets nothing', async () => {
  let nowUs = START_US;
  await using partitions = buildRedisPartitions(
    { client: server.client, prefix: 'ttl', commandTimeoutMs },
    () => nowUs,
  );
  const limiter = limiterOf(
    partitions.getTokenBucketLimiter('slow', () => ({
      tokenLimit: 3,
      tokensPerPeriod: 1,
      replenishmentPeriodMs: 15_000,
      refill: 'interval' as const,
    })),
  );
  await limiter.acquire(3);
  const granted: Record<number, boolean[]> = {};
  for (const second of [4, 16, 44, 46]) {
    nowUs = START_US + second * 1_000_000;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const leases = [await limiter.acquire(), await limiter.acquire()];
    granted[second] = leases.map((lease) => lease.isAcquired);
  }
  expect(granted).toEqual({ 4: [false, false], 16: [true, false], 44: [true, false], 46: [true, false] });
});

test('all keys of a concurrency limiter have a TTL while it is in use, and are gone with the last lease', async () => {
  await using partitions = buildRedisPartitions({ client: server.client, prefix: 'ttl', commandTimeoutMs });
  const leaseTtlMs = 20_000;
  const limiter = limiterOf(
    partitions.getConcurrencyLimiter('slots', () => ({ permitLimit: 1, queueLimit: 2, leaseTtlMs })),
  );
  const lease = await limiter.acquire();
  const waiting = limiter.acquire();
  const names = async (): Promise<string[]> => (await server.client.keys('ttl:v1:{slots}*')).toSorted();
  // oxlint-disable-next-line no-await-in-loop -- until it waits
  while ((await names()).length < 4);
  const times = await Promise.all((await names()).map((name) => server.client.pttl(name)));
  for (const ttlMs of times) expect(ttlMs).toBeGreaterThan(leaseTtlMs);
  await (lease as RemoteLease)[Symbol.asyncDispose]();
  await ((await waiting) as RemoteLease)[Symbol.asyncDispose]();
  expect(await names()).toEqual(['ttl:v1:{slots}']);
  expect(await server.client.pttl('ttl:v1:{slots}')).toBeGreaterThan(0);
});
