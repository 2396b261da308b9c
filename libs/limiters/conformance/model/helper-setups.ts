import { RateLimitPartition } from '../../src/index.js';
import type { Kind, Setup } from './limiter-setups.js';

const HELPERS = {
  concurrency: RateLimitPartition.getConcurrencyLimiter,
  fixedWindow: RateLimitPartition.getFixedWindowLimiter,
  slidingWindow: RateLimitPartition.getSlidingWindowLimiter,
  greedyBucket: RateLimitPartition.getTokenBucketLimiter,
  intervalBucket: RateLimitPartition.getTokenBucketLimiter,
} as const;

/** A partition by the helper of a kind; its numbers are asked for whenever it asks for its options. */
export function helperPartition<TKey>(
  kind: Kind,
  key: TKey,
  setupNow: () => Setup,
): RateLimitPartition<TKey> {
  return HELPERS[kind](key, () => {
    const { limit, segmentMs, segments, periodMs, ...setup } = setupNow();
    return {
      ...setup,
      permitLimit: limit,
      tokenLimit: limit,
      windowMs: kind === 'slidingWindow' ? segmentMs * segments : segmentMs,
      segmentsPerWindow: segments,
      replenishmentPeriodMs: periodMs,
      refill: kind === 'greedyBucket' ? 'greedy' : 'interval',
    };
  });
}
