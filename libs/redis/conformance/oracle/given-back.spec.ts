import type { AsyncRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { undoLease } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import * as fc from 'fast-check';
import type { RedisPartitions } from '../../src/create-redis-partitions.js';
import { buildRedisPartitions } from '../../src/create-redis-partitions.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import type { Setup } from './limiter-pair.js';
import { anySetup, inProcess, RATES, shared } from './limiter-pair.js';
import { boundedTrace } from '../../../../test/traces/bounded-trace.js';

interface Step {
  readonly afterUs: number;
  readonly permits: number;
  /** Whether the grant is taken back, after so many of the following requests; `null`: it is not. */
  readonly undoneAfter: number | null;
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  afterUs: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 30_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 400_000 }) },
  ),
  permits: fc.integer({ min: 1, max: 12 }),
  undoneAfter: fc.option(fc.integer({ min: 0, max: 8 })),
});

/** Time brings back a few permits between the steps, not all of them. */
const slowSetup: fc.Arbitrary<Setup> = fc.record({
  limit: fc.integer({ min: 4, max: 12 }),
  windowUs: fc.integer({ min: 10_000, max: 60_000 }),
  segments: fc.integer({ min: 1, max: 7 }),
  tokens: fc.integer({ min: 1, max: 3 }),
});

const START_US = 1_783_228_800_123_456;

function undo(lease: RateLimitLease): void {
  (lease as unknown as { [undoLease](): void })[undoLease]();
}

const server = TestServer.forThisFile();
let nowUs = START_US;

describe.each(RATES)('what a shared %s takes back', (rate) => {
  let keys = 0;
  const partitions = (): ReturnType<typeof buildRedisPartitions> =>
    buildRedisPartitions({ client: server.client, prefix: rate, commandTimeoutMs: 30_000 }, () => nowUs);

  test('is as if it had never been granted, when no time has passed', async () => {
    await using both = partitions();
    const property = fc.asyncProperty(
      anySetup,
      fc.array(anyStep, { maxLength: 20 }),
      boundedTrace(async (setup, steps) => {
        nowUs = START_US;
        const clock = new FakeClock();
        const local = inProcess(rate, setup, clock);
        const remote = shared(both, rate, setup, `at once ${keys++}`);
        for (const { afterUs, permits, undoneAfter } of [FIRST, ...steps]) {
          nowUs += afterUs;
          clock.advance(afterUs / 1_000);
          const asked = Math.min(permits, setup.limit);
          const lease = await remote.acquire(asked);
          if (undoneAfter === null) expect(local.attemptAcquire(asked).isAcquired).toBe(lease.isAcquired);
          else if (lease.isAcquired) undo(lease);
          expect((await remote.acquire(0)).quota()[0]!.remaining).toBe(
            local.attemptAcquire(0).quota()[0]!.remaining,
          );
        }
      }),
    );
    await fc.assert(property, { numRuns: 60 });
  });

  test('comes back once, by time or by hand, in any order: those who keep theirs never get more than the limit', async () => {
    await using both = partitions();
    const property = fc.asyncProperty(
      fc.oneof(anySetup, slowSetup),
      fc.array(anyStep, { maxLength: 40 }),
      boundedTrace(async (setup, steps) => {
        nowUs = START_US;
        const clock = new FakeClock();
        const local = inProcess(rate, setup, clock);
        const remote = shared(both, rate, setup, `later ${keys++}`);
        let lent: { readonly lease: RateLimitLease; left: number }[] = [];
        for (const { afterUs, permits, undoneAfter } of [FIRST, ...steps]) {
          nowUs += afterUs;
          clock.advance(afterUs / 1_000);
          for (const one of lent) if (one.left-- === 0) undo(one.lease);
          lent = lent.filter(({ left }) => left >= 0);
          const asked = Math.min(permits, setup.limit);
          const lease = await remote.acquire(asked);
          if (!lease.isAcquired) continue;
          if (undoneAfter !== null) lent.push({ lease, left: undoneAfter });
          else expect(local.attemptAcquire(asked).isAcquired).toBe(true);
        }
      }),
    );
    await fc.assert(property, { numRuns: 100 });
  });
});

describe.each(['greedyBucket', 'intervalBucket'] as const)('of grants that overlap a %s', (rate) => {
  const PERIOD_US = 10_000;
  let partitions: RedisPartitions;
  let remote: AsyncRateLimiter;
  const pass = (periods: number): void => void (nowUs += periods * PERIOD_US);
  const left = async (): Promise<number> => (await remote.acquire(0)).quota()[0]!.remaining;
  /** What is told later comes later. */
  const giveBack = async (lease: RateLimitLease): Promise<number> => {
    undo(lease);
    return left();
  };
  beforeEach(() => {
    nowUs = START_US;
    partitions = buildRedisPartitions(
      { client: server.client, prefix: rate, commandTimeoutMs: 30_000 },
      () => nowUs,
    );
    const setup = { limit: 10, tokens: 1, windowUs: PERIOD_US, segments: 1 };
    remote = shared(partitions, rate, setup, 'overlapping');
  });
  afterEach(async () => {
    await server.client.flushall();
  });

  test('takes back only what time has not paid for since one before it came back', async () => {
    const [first, second] = [await remote.acquire(5), await remote.acquire(5)];
    await giveBack(first);
    pass(5);
    await remote.acquire(5);
    // Nothing was before it any more: time has paid for all of it.
    expect(await giveBack(second)).toBe(5);
  });

  test('takes back all that time has not paid for, in whatever order', async () => {
    const leases = [await remote.acquire(2), await remote.acquire(3), await remote.acquire(4)];
    pass(1);
    expect(await giveBack(leases[2]!)).toBe(6);
    pass(1);
    // The first was paid for. Of the others nothing was.
    expect(await giveBack(leases[0]!)).toBe(7);
    expect(await giveBack(leases[1]!)).toBe(10);
  });

  test('forgets nothing of many that were before one', async () => {
    const many = await Promise.all(Array.from({ length: 5 }, () => remote.acquire(1)));
    const last = await remote.acquire(4);
    pass(1);
    many.slice(1).forEach(undo);
    for (let round = 0; round < 40; round++) expect(await giveBack(await remote.acquire(1))).toBe(6);
    pass(4);
    await remote.acquire(9);
    expect(await giveBack(last)).toBe(1);
  });
});

/** The first use of a key begins its windows, as the construction does in process. */
const FIRST: Step = { afterUs: 0, permits: 1, undoneAfter: null };
