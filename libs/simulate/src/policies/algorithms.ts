import type { RateLimitPartition as Partition } from '@ratelease/limiters';
import {
  ConcurrencyLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '@ratelease/limiters';
import type { AlgorithmName, AlgorithmNumbers } from './policy-options.js';

interface Algorithm<TOptions> {
  readonly limiter: new (options: TOptions) => unknown;
  readonly partition: <TKey>(key: TKey, factory: (key: TKey) => TOptions) => Partition<TKey>;
  readonly options: readonly string[];
}

const QUEUE = ['queueLimit', 'queueProcessingOrder'] as const;

/** The real limiters, by the names of their algorithms. */
const ALGORITHMS: { readonly [Name in AlgorithmName]: Algorithm<AlgorithmNumbers[Name]> } = {
  concurrency: {
    limiter: ConcurrencyLimiter,
    partition: RateLimitPartition.getConcurrencyLimiter,
    options: ['permitLimit', ...QUEUE],
  },
  tokenBucket: {
    limiter: TokenBucketRateLimiter,
    partition: RateLimitPartition.getTokenBucketLimiter,
    options: ['tokenLimit', 'tokensPerPeriod', 'replenishmentPeriodMs', 'refill', ...QUEUE],
  },
  fixedWindow: {
    limiter: FixedWindowRateLimiter,
    partition: RateLimitPartition.getFixedWindowLimiter,
    options: ['permitLimit', 'windowMs', ...QUEUE],
  },
  slidingWindow: {
    limiter: SlidingWindowRateLimiter,
    partition: RateLimitPartition.getSlidingWindowLimiter,
    options: ['permitLimit', 'windowMs', 'segmentsPerWindow', ...QUEUE],
  },
};

/** Their names. */
export const ALGORITHM_NAMES = Object.keys(ALGORITHMS) as readonly AlgorithmName[];

/** The options of a policy that aren't numbers of its algorithm. */
export const POLICY_OPTIONS = ['algorithm', 'key', 'paths', 'methods'] as const;

/** An algorithm as one whose numbers were checked. */
export function algorithmOf(name: AlgorithmName): Algorithm<object> {
  return ALGORITHMS[name] as Algorithm<object>;
}
