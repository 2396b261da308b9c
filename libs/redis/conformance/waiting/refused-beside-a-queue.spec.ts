import type { AsyncRateLimiter } from '@ratelease/limiters';
import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  TokenBucketRateLimiter,
} from '@ratelease/limiters';
import { limiterOf } from '../oracle/limiter-pair.js';
import { TimedPartitions } from './timed-partitions.js';

const PERIOD_MS = 10_000;
const LIMIT = 4;

const timed = new TimedPartitions();

interface QueueOptions {
  readonly queueLimit: number;
  readonly queueProcessingOrder: 'oldestFirst' | 'newestFirst';
}

/** A limiter in process and the same one on the server. */
const PAIRS: Record<string, (queue: QueueOptions) => [AsyncRateLimiter, AsyncRateLimiter]> = {
  'a concurrency limiter': (queue) => {
    const options = { permitLimit: LIMIT, ...queue, clock: timed.clock };
    return [
      new ConcurrencyLimiter(options),
      limiterOf(timed.shared.getConcurrencyLimiter(timed.key, () => options)),
    ];
  },
  'a fixed window': (queue) => {
    const options = { permitLimit: LIMIT, windowMs: PERIOD_MS, ...queue, clock: timed.clock };
    return [
      new FixedWindowRateLimiter(options),
      limiterOf(timed.shared.getFixedWindowLimiter(timed.key, () => options)),
    ];
  },
  'a token bucket': (queue) => {
    const times = { tokensPerPeriod: LIMIT, replenishmentPeriodMs: PERIOD_MS };
    const options = { tokenLimit: LIMIT, ...times, ...queue, clock: timed.clock };
    return [
      new TokenBucketRateLimiter(options),
      limiterOf(timed.shared.getTokenBucketLimiter(timed.key, () => options)),
    ];
  },
};

/** What is refused to a request that waits no longer than that, beside so many permits that wait. */
async function refusedBy(
  limiter: AsyncRateLimiter,
  { queued, permits, maxWaitMs }: { queued: number; permits: number; maxWaitMs: number },
): Promise<object> {
  await limiter.acquire(LIMIT);
  const waiters = queued === 0 ? [] : [limiter.acquire(queued).catch(() => undefined)];
  const lease = await limiter.acquire(permits, { maxWaitMs });
  expect(lease.isAcquired).toBe(false);
  await limiter.dispose();
  await Promise.all(waiters);
  return { reason: lease.getMetadata('REASON_PHRASE'), retryAfterMs: lease.getMetadata('RETRY_AFTER') };
}

const QUEUE_LIMIT = 2;
const orders = ['oldestFirst', 'newestFirst'] as const;
describe.each(Object.keys(PAIRS))('%s refuses who does not want to wait as in process', (name) => {
  const cases = orders.flatMap((order) =>
    [0, 1, 2].flatMap((queued) => [0, 1, 2, 3].map((permits) => [order, queued, permits] as const)),
  );
  test.each(cases)('%s, with %d in the queue, for %d', async (queueProcessingOrder, queued, permits) => {
    const [inProcess, remote] = PAIRS[name]!({ queueLimit: QUEUE_LIMIT, queueProcessingOrder });
    const request = { queued, permits, maxWaitMs: 0 };
    expect(await refusedBy(remote, request)).toEqual(await refusedBy(inProcess, request));
  });

  test('and who finds no room, however long it would wait', async () => {
    const queue = { queueLimit: QUEUE_LIMIT, queueProcessingOrder: 'oldestFirst' } as const;
    const [inProcess, remote] = PAIRS[name]!(queue);
    const request = { queued: QUEUE_LIMIT, permits: 1, maxWaitMs: 1 };
    expect(await refusedBy(remote, request)).toEqual(await refusedBy(inProcess, request));
  });
});

test('who asks for more than the queue has room for is refused at once, and takes nothing of the other limiters', async () => {
  const chain = createChainedPartitionedRateLimiter(
    createPartitionedRateLimiter((key: string) =>
      timed.shared.getTokenBucketLimiter(key, () => ({
        ...{ tokenLimit: LIMIT, tokensPerPeriod: LIMIT, replenishmentPeriodMs: PERIOD_MS, queueLimit: 1 },
      })),
    ),
    createPartitionedRateLimiter((key: string) =>
      timed.shared.getConcurrencyLimiter(key, () => ({ permitLimit: 2 * LIMIT })),
    ),
  );
  const key = timed.key;
  const first = await chain.acquire(key, LIMIT);
  expect(first.isAcquired).toBe(true);
  // Whatever is asked after that finds a full bucket.
  const refused = chain.acquire(key, LIMIT);
  await Promise.resolve();
  setImmediate(() => timed.clock.advance(PERIOD_MS));
  expect((await refused).isAcquired).toBe(false);
  first.dispose();
  await chain.dispose();
  await timed.shared.dispose();
  expect(await timed.client.keys(`*{${key}}:*leases`)).toEqual([]);
});
