import {
  createChainedRateLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
} from '../index.js';
import type { RateLimitPartition as Partition } from '../index.js';
import { FakeClock } from '../testing/index.js';

const TIMEOUT_MS = 1_000;
const window = { permitLimit: 4, windowMs: 3_000, autoReplenishment: false };
const bucket = { tokenLimit: 4, tokensPerPeriod: 1, replenishmentPeriodMs: 1_500, autoReplenishment: false };

type Making = (key: string, clock: FakeClock) => Partition<string>;
const MADE: Record<string, Making> = {
  'a fixed window': (key) => RateLimitPartition.getFixedWindowLimiter(key, () => window),
  'a sliding window': (key) =>
    RateLimitPartition.getSlidingWindowLimiter(key, () => ({ ...window, segmentsPerWindow: 3 })),
  'a greedy bucket': (key) => RateLimitPartition.getTokenBucketLimiter(key, () => bucket),
  'an interval bucket': (key) =>
    RateLimitPartition.getTokenBucketLimiter(key, () => ({ ...bucket, refill: 'interval' })),
  'a limiter of an own factory': (key, clock) =>
    RateLimitPartition.get(key, () => new FixedWindowRateLimiter({ ...window, clock })),
  'a chain of an own factory': (key, clock) =>
    RateLimitPartition.get(key, () =>
      createChainedRateLimiter(new FixedWindowRateLimiter({ ...window, clock })),
    ),
};

/** When a request for everything is granted, tried every 50 ms. */
function grantedAfterMs(clock: FakeClock, attempt: () => boolean): number {
  let ms = 0;
  for (; !attempt(); ms += 50) clock.advance(50);
  return ms;
}

describe.each(Object.keys(MADE))('%s that is replenished by its keeper, in a partition', (kind) => {
  const partitions = (clock: FakeClock, idleTimeoutMs = TIMEOUT_MS) =>
    createPartitionedRateLimiter((key: string) => MADE[kind]!(key, clock), { clock, idleTimeoutMs });

  it('leaves although nobody asks again, once all is back and it has been idle', () => {
    const clock = new FakeClock();
    const limiter = partitions(clock);
    for (let key = 0; key < 50; key++) limiter.attemptAcquire(`key ${key}`, 4);
    // A bucket is full after four periods.
    clock.advance(6_000 + 2 * TIMEOUT_MS + 500);
    expect(limiter.partitionCount).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is forgiven nothing for that', () => {
    const clock = new FakeClock();
    // One is looked at often, the other not before it is asked.
    const [looked, left] = [partitions(clock, 50), partitions(clock, 1_000_000)];
    for (const limiter of [looked, left]) limiter.attemptAcquire('ann', 3);
    clock.advance(700);
    for (const limiter of [looked, left]) limiter.attemptAcquire('ann', 1);
    const start = clock.now();
    const asLooked = grantedAfterMs(clock, () => looked.attemptAcquire('ann', 4).isAcquired);
    const again = new FakeClock();
    const alone = partitions(again, 1_000_000);
    alone.attemptAcquire('ann', 3);
    again.advance(700);
    alone.attemptAcquire('ann', 1);
    expect(asLooked).toBe(grantedAfterMs(again, () => alone.attemptAcquire('ann', 4).isAcquired));
    expect(left.attemptAcquire('ann', 4).isAcquired).toBe(true);
    expect(clock.now() - start).toBe(asLooked);
  });
});
