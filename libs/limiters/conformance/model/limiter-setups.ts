import * as fc from 'fast-check';
import {
  ConcurrencyLimiter,
  FixedWindowRateLimiter,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../../src/index.js';
import type { Clock, RateLimiter } from '../../src/index.js';
import type { QueueSetup } from './reference-limiter.js';
import type { ReferencePolicy } from './reference-policy.js';
import {
  ReferenceConcurrency,
  ReferenceGreedyBucket,
  ReferenceIntervalBucket,
  ReferenceWindow,
} from './reference-policy.js';

/** The four limiters and both buckets. */
export const KINDS = [
  'concurrency',
  'fixedWindow',
  'slidingWindow',
  'greedyBucket',
  'intervalBucket',
] as const;
export type Kind = (typeof KINDS)[number];

/** The numbers of a limiter; each kind takes those it has. All times are whole milliseconds. */
export interface Setup extends QueueSetup {
  readonly limit: number;
  readonly segmentMs: number;
  readonly segments: number;
  readonly tokensPerPeriod: number;
  readonly periodMs: number;
}

export const anySetup: fc.Arbitrary<Setup> = fc.record({
  limit: fc.integer({ min: 1, max: 8 }),
  segmentMs: fc.integer({ min: 1, max: 12 }),
  segments: fc.integer({ min: 1, max: 6 }),
  tokensPerPeriod: fc.integer({ min: 1, max: 9 }),
  periodMs: fc.integer({ min: 1, max: 30 }),
  queueLimit: fc.integer({ min: 0, max: 12 }),
  queueProcessingOrder: fc.constantFrom('oldestFirst', 'newestFirst'),
});

type Create = (setup: Setup, common: CommonOptions) => RateLimiter;
type CommonOptions = QueueSetup & { readonly permitLimit: number; readonly clock: Clock };

const LIMITERS: Readonly<Record<Kind, Create>> = {
  concurrency: (_setup, common) => new ConcurrencyLimiter(common),
  fixedWindow: ({ segmentMs }, common) => new FixedWindowRateLimiter({ ...common, windowMs: segmentMs }),
  slidingWindow: ({ segmentMs, segments }, common) =>
    new SlidingWindowRateLimiter({ ...common, windowMs: segmentMs * segments, segmentsPerWindow: segments }),
  greedyBucket: (setup, common) => bucket(setup, common, 'greedy'),
  intervalBucket: (setup, common) => bucket(setup, common, 'interval'),
};

function bucket(setup: Setup, common: CommonOptions, refill: 'greedy' | 'interval'): RateLimiter {
  return new TokenBucketRateLimiter({
    ...common,
    tokenLimit: setup.limit,
    tokensPerPeriod: setup.tokensPerPeriod,
    replenishmentPeriodMs: setup.periodMs,
    refill,
  });
}

export function createLimiter(kind: Kind, setup: Setup, clock: Clock): RateLimiter {
  const { limit, queueLimit, queueProcessingOrder } = setup;
  return LIMITERS[kind](setup, { permitLimit: limit, queueLimit, queueProcessingOrder, clock });
}

/** The limiters whose numbers can be changed. */
export type ChangeableLimiter =
  ConcurrencyLimiter | FixedWindowRateLimiter | SlidingWindowRateLimiter | TokenBucketRateLimiter;

export function changeLimit(limiter: ChangeableLimiter, limit: number): void {
  if (limiter instanceof TokenBucketRateLimiter) limiter.updateOptions({ tokenLimit: limit });
  else limiter.updateOptions({ permitLimit: limit });
}

const POLICIES: Readonly<Record<Kind, (setup: Setup) => ReferencePolicy>> = {
  concurrency: ({ limit }) => new ReferenceConcurrency(limit),
  fixedWindow: ({ limit, segmentMs }) => new ReferenceWindow(limit, segmentMs, 1),
  slidingWindow: ({ limit, segmentMs, segments }) => new ReferenceWindow(limit, segmentMs, segments),
  greedyBucket: ({ limit, tokensPerPeriod, periodMs }) =>
    new ReferenceGreedyBucket(limit, tokensPerPeriod, periodMs),
  intervalBucket: ({ limit, tokensPerPeriod, periodMs }) =>
    new ReferenceIntervalBucket(limit, tokensPerPeriod, periodMs),
};

export function createPolicy(kind: Kind, setup: Setup): ReferencePolicy {
  return POLICIES[kind](setup);
}
