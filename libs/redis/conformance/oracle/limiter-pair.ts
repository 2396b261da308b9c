import type { AsyncRateLimiter, Clock, RateLimiter, RateLimitPartition } from '@ratelease/limiters';
import {
  FixedWindowRateLimiter,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '@ratelease/limiters';
import type { FakeClock } from '@ratelease/limiters/testing';
import * as fc from 'fast-check';
import type { RedisPartitions } from '../../src/create-redis-partitions.js';
import type { SharedRateLimiterOptions } from '../../src/index.js';

/** The algorithms whose permits come back with time. */
export const RATES = ['fixedWindow', 'slidingWindow', 'greedyBucket', 'intervalBucket'] as const;
export type Rate = (typeof RATES)[number];

/** The numbers of a limiter; each rate takes those it has. Times in whole µs. */
export interface Setup {
  readonly limit: number;
  readonly windowUs: number;
  readonly segments: number;
  readonly tokens: number;
}

export const anySetup: fc.Arbitrary<Setup> = fc.record({
  limit: fc.integer({ min: 1, max: 12 }),
  windowUs: fc.oneof(fc.integer({ min: 7, max: 900 }), fc.integer({ min: 1_000, max: 90_000 })),
  segments: fc.integer({ min: 1, max: 7 }),
  tokens: fc.integer({ min: 1, max: 11 }),
});

/** A limiter in process, by the clock. */
export function inProcess(rate: Rate, setup: Setup, clock: FakeClock): RateLimiter {
  switch (rate) {
    case 'fixedWindow':
      return new FixedWindowRateLimiter({ ...windowOptions(setup), clock });
    case 'slidingWindow':
      return new SlidingWindowRateLimiter({
        ...windowOptions(setup),
        segmentsPerWindow: setup.segments,
        clock,
      });
    default:
      return new TokenBucketRateLimiter({ ...bucketOptions(rate, setup), clock });
  }
}

/** The same limiter on the server. */
// oxlint-disable-next-line max-params -- who, what and where
export function shared(
  partitions: RedisPartitions,
  rate: Rate,
  setup: Setup,
  key: string,
  more: SharedRateLimiterOptions & { clock?: Clock } = {},
): AsyncRateLimiter {
  return limiterOf(sharedPartition(partitions, rate, setup, { key, more }));
}

/** The limiter of a partition. */
export function limiterOf(partition: RateLimitPartition<string, AsyncRateLimiter>): AsyncRateLimiter {
  return partition.factory(partition.partitionKey);
}

/** Its partition. */
export function sharedPartition(
  partitions: RedisPartitions,
  rate: Rate,
  setup: Setup,
  // oxlint-disable-next-line max-params -- who, what and where
  { key, more }: { key: string; more: object },
): RateLimitPartition<string, AsyncRateLimiter> {
  switch (rate) {
    case 'fixedWindow':
      return partitions.getFixedWindowLimiter(key, () => ({ ...windowOptions(setup), ...more }));
    case 'slidingWindow':
      return partitions.getSlidingWindowLimiter(key, () => ({
        ...windowOptions(setup),
        segmentsPerWindow: setup.segments,
        ...more,
      }));
    default:
      return partitions.getTokenBucketLimiter(key, () => ({ ...bucketOptions(rate, setup), ...more }));
  }
}

function windowOptions({ limit, windowUs }: Setup): { permitLimit: number; windowMs: number } {
  return { permitLimit: limit, windowMs: windowUs / 1_000 };
}

function bucketOptions(
  rate: Rate,
  { limit, tokens, windowUs }: Setup,
): {
  tokenLimit: number;
  tokensPerPeriod: number;
  replenishmentPeriodMs: number;
  refill: 'greedy' | 'interval';
} {
  return {
    tokenLimit: limit,
    tokensPerPeriod: tokens,
    replenishmentPeriodMs: windowUs / 1_000,
    refill: rate === 'greedyBucket' ? 'greedy' : 'interval',
  };
}
