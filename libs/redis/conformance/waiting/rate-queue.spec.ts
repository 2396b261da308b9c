import type { AsyncRateLimiter, RateLimitLease } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import { limiterOf } from '../oracle/limiter-pair.js';
import { TimedPartitions } from './timed-partitions.js';
import { scriptCalls } from '../../../../test/redis/script-calls.js';

const WINDOW_MS = 10_000;

const timed = new TimedPartitions();

const windowOf = (permitLimit: number, options: object = {}): AsyncRateLimiter =>
  limiterOf(
    timed.shared.getFixedWindowLimiter(timed.key, () => ({
      permitLimit,
      windowMs: WINDOW_MS,
      name: 'waits',
      queueLimit: 4,
      clock: timed.clock,
      ...options,
    })),
  );
const reasonOf = (lease: RateLimitLease): unknown => lease.getMetadata('REASON_PHRASE');
const left = async (permitLimit: number): Promise<number> =>
  (await windowOf(permitLimit).acquire(0, { maxWaitMs: 0 })).quota()[0]!.remaining;

/** Resolves when so many requests of this process wait, each for a moment that is known. */
async function waiting(): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (timed.clock.pendingTimers === 0) await new Promise((resolve) => setImmediate(resolve));
}

const scripts = (): Promise<number> => scriptCalls(timed.client);

test('who finds no room is refused, told when there would have been, and charged for nothing', async () => {
  const limiter = windowOf(4);
  await limiter.acquire(4);
  const first = limiter.acquire(4);
  await waiting();
  const refused = await limiter.acquire(2);
  expect(refused.isAcquired).toBe(false);
  // The next window is for those before it.
  expect(refused.getMetadata('RETRY_AFTER')).toBe(2 * WINDOW_MS);
  timed.clock.advance(WINDOW_MS);
  expect((await first).isAcquired).toBe(true);
  expect(await left(4)).toBe(0);
  timed.clock.advance(WINDOW_MS);
  expect(await left(4)).toBe(4);
});

test('who finds no room in a chain is given back what another key was charged for him', async () => {
  const other = createPartitionedRateLimiter(
    (key: string) =>
      timed.shared.getFixedWindowLimiter(`other-${key}`, () => ({ permitLimit: 10, windowMs: WINDOW_MS })),
    { clock: timed.clock },
  );
  const full = createPartitionedRateLimiter(
    (key: string) =>
      timed.shared.getFixedWindowLimiter(key, () => ({
        permitLimit: 2,
        windowMs: WINDOW_MS,
        queueLimit: 1,
        name: 'full',
      })),
    { clock: timed.clock },
  );
  const chain = createChainedPartitionedRateLimiter(other, full);
  const key = `chain-${timed.key}`;
  expect((await chain.acquire(key, 2)).isAcquired).toBe(true);
  const waits = full.acquire(key, 1);
  await waiting();
  const refused = await chain.acquire(key, 2);
  expect(refused.isAcquired).toBe(false);
  expect(refused.getMetadata('RETRY_AFTER')).toBeGreaterThan(0);
  expect((await other.acquire(key, 0)).quota()[0]!.remaining).toBe(8);
  timed.clock.advance(WINDOW_MS);
  expect((await waits).isAcquired).toBe(true);
  void chain.dispose();
});

test('those who wait are served in their order, those of one moment by one call', async () => {
  const limiter = windowOf(3);
  await limiter.acquire(3);
  const served: number[] = [];
  const waits = [1, 2, 1].map((permits, index) =>
    limiter.acquire(permits).then((lease) => {
      if (lease.isAcquired) served.push(index);
    }),
  );
  await waiting();
  const before = await scripts();
  timed.clock.advance(WINDOW_MS);
  await Promise.all(waits.slice(0, 2));
  expect(served).toEqual([0, 1]);
  expect((await scripts()) - before).toBe(1);
  await waiting();
  timed.clock.advance(WINDOW_MS);
  await Promise.all(waits);
  expect(served).toEqual([0, 1, 2]);
});

test('an abort frees the place, a wait that is too long ends, and both are charged for nothing', async () => {
  const limiter = windowOf(1, { queueLimit: 1 });
  await limiter.acquire();
  const abort = new AbortController();
  const aborted = limiter.acquire(1, { signal: abort.signal });
  await waiting();
  abort.abort(new Error('enough'));
  await expect(aborted).rejects.toThrow('enough');
  const short = await limiter.acquire(1, { maxWaitMs: WINDOW_MS - 1 });
  expect(reasonOf(short)).toBe('Wait limit reached');
  expect(short.getMetadata('RETRY_AFTER')).toBe(WINDOW_MS);
  const enough = limiter.acquire(1, { maxWaitMs: WINDOW_MS });
  await waiting();
  timed.clock.advance(WINDOW_MS);
  expect((await enough).isAcquired).toBe(true);
});

test('who could wait and does not want to is told so, as in process', async () => {
  const limiter = windowOf(3, { queueLimit: 2 });
  await limiter.acquire(3);
  const refused = await Promise.all([1, 3].map((permits) => limiter.acquire(permits, { maxWaitMs: 0 })));
  expect(refused.map(reasonOf)).toEqual(['Wait limit reached', undefined]);
  expect(refused[0]!.getMetadata('RETRY_AFTER')).toBe(WINDOW_MS);
});

test('where the newest come first, the oldest make room and are told', async () => {
  const limiter = windowOf(1, { queueLimit: 1, queueProcessingOrder: 'newestFirst' });
  await limiter.acquire();
  const old = limiter.acquire();
  await waiting();
  const young = limiter.acquire();
  expect(reasonOf(await old)).toBe('Evicted by a newer request');
  await waiting();
  timed.clock.advance(WINDOW_MS);
  expect((await young).isAcquired).toBe(true);
});

test('the end of the limiter ends its waits', async () => {
  const limiter = windowOf(1);
  await limiter.acquire();
  const waits = limiter.acquire();
  await waiting();
  void limiter.dispose();
  expect(reasonOf(await waits)).toBe('Limiter disposed');
  expect(timed.clock.pendingTimers).toBe(0);
  // Nobody has refused it.
  expect(limiter.getStatistics()).toMatchObject({ totalSuccessfulLeases: 1, totalFailedLeases: 0 });
});
