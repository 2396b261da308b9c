import type { RateLimitLease } from '@ratelease/limiters';
import { undoLease } from '@ratelease/limiters';
import { FakeClock } from '@ratelease/limiters/testing';
import * as fc from 'fast-check';
import { buildRedisPartitions } from '../../src/create-redis-partitions.js';
import { TestServer } from '../../../../test/redis/test-server.js';
import { anySetup, inProcess, RATES, shared } from './limiter-pair.js';

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
  undoneAfter: fc.option(fc.integer({ min: 0, max: 4 })),
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
    const both = partitions();
    const property = fc.asyncProperty(
      anySetup,
      fc.array(anyStep, { maxLength: 20 }),
      async (setup, steps) => {
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
      },
    );
    await fc.assert(property, { numRuns: 60 });
    await both.dispose();
  });

  test('comes back once, by time or by hand: those who keep theirs never get more than the limit', async () => {
    const both = partitions();
    const property = fc.asyncProperty(
      anySetup,
      fc.array(anyStep, { maxLength: 40 }),
      async (setup, steps) => {
        nowUs = START_US;
        const clock = new FakeClock();
        const local = inProcess(rate, setup, clock);
        const remote = shared(both, rate, setup, `later ${keys++}`);
        let lent: { readonly lease: RateLimitLease; left: number } | null = null;
        for (const { afterUs, permits, undoneAfter } of [FIRST, ...steps]) {
          nowUs += afterUs;
          clock.advance(afterUs / 1_000);
          if (lent !== null && lent.left-- === 0) {
            undo(lent.lease);
            lent = null;
          }
          const asked = Math.min(permits, setup.limit);
          const lease = await remote.acquire(asked);
          if (!lease.isAcquired) continue;
          if (undoneAfter !== null && lent === null) lent = { lease, left: undoneAfter };
          else expect(local.attemptAcquire(asked).isAcquired).toBe(true);
        }
      },
    );
    await fc.assert(property, { numRuns: 60 });
    await both.dispose();
  });
});

/** The first use of a key begins its windows, as the construction does in process. */
const FIRST: Step = { afterUs: 0, permits: 1, undoneAfter: null };
