import type { RateLimitLease } from '@ratelease/limiters';
import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  retryAfterOfAll,
} from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import * as fc from 'fast-check';
import { buildRedisPartitions } from '../../src/create-redis-partitions.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import type { Rate } from './limiter-pair.js';
import { anySetup, RATES, shared, sharedPartition } from './limiter-pair.js';
import { boundedTrace } from '../../../../test/traces/bounded-trace.js';

const START_US = 1_783_228_800_123_456;
const commandTimeoutMs = 30_000;
const numRuns = 50;
const anySteps = fc.array(
  fc.record({
    afterUs: fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 30_000 }),
      fc.integer({ min: 0, max: 400_000 }),
    ),
    permits: fc.integer({ min: 0, max: 12 }),
  }),
  { minLength: 1, maxLength: 30, size: 'max' },
);

const server = TestServer.forThisFile();
let keys = 0;
let nowUs = START_US;
let clock = new FakeClock();

function begin(): string {
  nowUs = START_US;
  clock = new FakeClock();
  return `key-${keys++}`;
}

function advance(us: number): void {
  nowUs += us;
  clock.advance(us / 1_000);
}

const partitions = (options: object = {}): ReturnType<typeof buildRedisPartitions> =>
  buildRedisPartitions({ client: server.client, prefix: 'retry', commandTimeoutMs, ...options }, () => nowUs);

type Ask = (permits: number) => Promise<RateLimitLease>;

/** Who is refused is refused again a millisecond before the moment that he was told, and granted then. */
async function comeBack(ask: Ask, permits: number, refused: RateLimitLease): Promise<void> {
  const us = retryAfterOfAll(refused)! * 1_000;
  advance(us - 1_000);
  expect((await ask(permits)).isAcquired).toBe(false);
  advance(1_000);
  expect((await ask(permits)).isAcquired).toBe(true);
}

async function follow(
  ask: Ask,
  limit: number,
  steps: readonly { afterUs: number; permits: number }[],
): Promise<void> {
  for (const { afterUs, permits } of steps) {
    advance(afterUs);
    const asked = Math.min(permits, limit);
    // oxlint-disable-next-line no-await-in-loop -- a trace is a sequence
    const lease = await ask(asked);
    // oxlint-disable-next-line no-await-in-loop
    if (!lease.isAcquired) await comeBack(ask, asked, lease);
  }
}

describe.each(RATES)('the moment that a refusal of a %s names', (rate) => {
  test.each([0, 250])(
    'is exact, to a whole millisecond, with refusals remembered for %s ms',
    async (refusalCacheMs) => {
      await using both = partitions({ refusalCacheMs });
      const property = fc.asyncProperty(
        anySetup,
        anySteps,
        boundedTrace(async (setup, steps) => {
          const limiter = shared(both, rate, setup, begin(), { clock });
          await follow((permits) => limiter.acquire(permits), setup.limit, steps);
        }),
      );
      await fc.assert(property, { numRuns });
    },
  );

  test('is exact after the numbers have changed', async () => {
    await using both = partitions();
    const property = fc.asyncProperty(
      anySetup,
      anySetup,
      anySteps,
      anySteps,
      boundedTrace(async (before, after, first, then) => {
        const key = begin();
        const more = { clock, name: 'changed' };
        const old = shared(both, rate, before, key, more);
        await follow((permits) => old.acquire(permits), before.limit, first);
        const young = shared(both, rate, after, key, more);
        await follow((permits) => young.acquire(permits), after.limit, then);
      }),
    );
    await fc.assert(property, { numRuns });
  });
});

const anyRate = fc.constantFrom<Rate>(...RATES);
test('the moment that a chain of shared rates of one key names is exact', async () => {
  await using both = partitions();
  const property = fc.asyncProperty(
    fc.array(fc.tuple(anyRate, anySetup), { minLength: 2, maxLength: 3 }),
    anySteps,
    boundedTrace(async (members, steps) => {
      const key = begin();
      const chain = createChainedPartitionedRateLimiter(
        ...members.map(([rate, setup], index) =>
          createPartitionedRateLimiter(
            () => sharedPartition(both, rate, setup, { key, more: { clock, name: `member-${index}` } }),
            { clock },
          ),
        ),
      );
      const limit = Math.min(...members.map(([, setup]) => setup.limit));
      await follow(async (permits) => chain.acquire(key, permits), limit, steps);
      await chain.dispose();
    }),
  );
  await fc.assert(property, { numRuns });
});
