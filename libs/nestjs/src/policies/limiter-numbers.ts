import type {
  Clock,
  ConcurrencyLimiterOptions,
  FixedWindowRateLimiterOptions,
  SlidingWindowRateLimiterOptions,
  TokenBucketRateLimiterOptions,
} from '@ratelease/limiters';
import {
  ConcurrencyLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '@ratelease/limiters';
import type { AnyPartition } from '../context/handling-context.js';

/** The numbers of each algorithm. */
export interface AlgorithmNumbers {
  /** How many at once. */
  readonly concurrency: ConcurrencyLimiterOptions;
  /** A rate, with bursts up to the size of the bucket. */
  readonly tokenBucket: TokenBucketRateLimiterOptions;
  /** So many in each window, counted from its first request. */
  readonly fixedWindow: FixedWindowRateLimiterOptions;
  /** So many in any window, by segments. */
  readonly slidingWindow: SlidingWindowRateLimiterOptions;
}

/** The name of an algorithm in an options object. */
export type AlgorithmName = keyof AlgorithmNumbers;

interface Algorithm<TOptions> {
  readonly make: new (options: TOptions) => unknown;
  readonly partition: (key: string, factory: () => TOptions) => AnyPartition;
  readonly options: readonly string[];
}

const EVERYWHERE = ['queueLimit', 'queueProcessingOrder', 'clock'] as const;

const ALGORITHMS: { readonly [Name in AlgorithmName]: Algorithm<AlgorithmNumbers[Name]> } = {
  concurrency: {
    make: ConcurrencyLimiter,
    partition: RateLimitPartition.getConcurrencyLimiter as never,
    options: ['permitLimit', ...EVERYWHERE],
  },
  tokenBucket: {
    make: TokenBucketRateLimiter,
    partition: RateLimitPartition.getTokenBucketLimiter as never,
    options: [
      'tokenLimit',
      'tokensPerPeriod',
      'replenishmentPeriodMs',
      'refill',
      'autoReplenishment',
      ...EVERYWHERE,
    ],
  },
  fixedWindow: {
    make: FixedWindowRateLimiter,
    partition: RateLimitPartition.getFixedWindowLimiter as never,
    options: ['permitLimit', 'windowMs', 'autoReplenishment', ...EVERYWHERE],
  },
  slidingWindow: {
    make: SlidingWindowRateLimiter,
    partition: RateLimitPartition.getSlidingWindowLimiter as never,
    options: ['permitLimit', 'windowMs', 'segmentsPerWindow', 'autoReplenishment', ...EVERYWHERE],
  },
};

/** The names of the algorithms. */
export const ALGORITHM_NAMES = Object.keys(ALGORITHMS) as readonly AlgorithmName[];

/** The options that an algorithm knows. */
export function optionsOf(algorithm: AlgorithmName): readonly string[] {
  return ALGORITHMS[algorithm].options;
}

/** Throws what the limiter's own class says about bad numbers; keeps nothing. */
export function checkNumbers(algorithm: AlgorithmName, numbers: object, clock: Clock | undefined): void {
  const { make } = ALGORITHMS[algorithm] as Algorithm<object>;
  void new make({ ...numbers, ...(clock === undefined || 'clock' in numbers ? {} : { clock }) });
}

/** A partition of the algorithm with these numbers. */
export function partitionOf(algorithm: AlgorithmName, key: string, factory: () => object): AnyPartition {
  return (ALGORITHMS[algorithm] as Algorithm<object>).partition(key, factory);
}
