import type { RateLimitLease } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import * as fc from 'fast-check';
import { buildRedisPartitions } from '../../src/create-redis-partitions.js';
import type { OpenClient } from '../../../../test/redis/clients.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { anySetup, inProcess, RATES, shared } from './limiter-pair.js';
import { boundedTrace } from '../../../../test/traces/bounded-trace.js';

interface Step {
  readonly afterUs: number;
  readonly permits: number;
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  afterUs: fc.oneof(
    { weight: 2, arbitrary: fc.constant(0) },
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 30_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 400_000 }) },
  ),
  permits: fc.integer({ min: 0, max: 12 }),
});

/** Decisions are compared here, however long a busy machine takes for them. */
const commandTimeoutMs = 30_000;
const START_US = 1_783_228_800_123_456;

function told(lease: RateLimitLease): object {
  return {
    isAcquired: lease.isAcquired,
    retryAfterMs: lease.getMetadata('RETRY_AFTER'),
    // In process fractions of a µs are told as well. Only near the clock's beginning: a double tells milliseconds the
    // less exactly the later it is, after ten years by some 30 ns, and so are boundaries in process.
    quota: lease.quota().map((entry) => ({
      ...entry,
      windowMs: Math.round(entry.windowMs! * 1e3 - 1e-2),
      resetAfterMs: Math.ceil(entry.resetAfterMs! * 1e3 - 1e-4),
    })),
  };
}

const server = TestServer.forThisFile();

describe.each(CLIENTS)('through $name', ({ open }) => {
  let client: OpenClient;
  beforeAll(async () => {
    client = await open(server.port);
  });
  afterAll(() => client.close());

  test.each(RATES)('a shared %s decides each trace as the one in process does', async (rate) => {
    let nowUs = START_US;
    let keys = 0;
    await using partitions = buildRedisPartitions(
      { client: client.client, prefix: rate, commandTimeoutMs },
      () => nowUs,
    );
    const property = fc.asyncProperty(
      anySetup,
      fc.array(anyStep, { minLength: 1, maxLength: 40, size: 'max' }),
      boundedTrace(async (setup, steps) => {
        nowUs = START_US;
        const clock = new FakeClock();
        const local = inProcess(rate, setup, clock);
        const remote = shared(partitions, rate, setup, `${client.client.constructor.name}-${keys++}`);
        const expected: object[] = [];
        const actual: object[] = [];
        // The first use of a key begins its windows, as the construction does in process.
        for (const { afterUs, permits } of [{ afterUs: 0, permits: 1 }, ...steps]) {
          nowUs += afterUs;
          clock.advance(afterUs / 1_000);
          const asked = Math.min(permits, setup.limit);
          expected.push(told(local.attemptAcquire(asked)));
          // oxlint-disable-next-line no-await-in-loop -- a trace is a sequence
          actual.push(told(await remote.acquire(asked)));
        }
        expect(actual).toEqual(expected);
      }),
    );
    await fc.assert(property, { numRuns: 120 });
  });

  test.each(RATES)('a shared %s gives nothing twice when the server’s clock steps back', async (rate) => {
    let nowUs = START_US;
    await using partitions = buildRedisPartitions(
      { client: client.client, prefix: `back-${rate}`, commandTimeoutMs },
      () => nowUs,
    );
    const setup = { limit: 3, windowUs: 1_000_000, segments: 4, tokens: 3 };
    const limiter = shared(partitions, rate, setup, client.client.constructor.name);
    expect((await limiter.acquire(3)).isAcquired).toBe(true);
    nowUs -= 3_600_000_000;
    expect((await limiter.acquire(1)).isAcquired).toBe(false);
    nowUs += 3_600_000_000 + 999_999;
    expect((await limiter.acquire(3)).isAcquired).toBe(false);
    nowUs += 1;
    expect((await limiter.acquire(3)).isAcquired).toBe(true);
  });
});
