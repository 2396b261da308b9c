import type { AsyncRateLimiter } from '../async-rate-limiter.js';
import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import type { ConcurrencyLimiterOptions } from '../concurrency/concurrency-limiter.js';
import { ConcurrencyLimiter } from '../concurrency/concurrency-limiter.js';
import { requireOptions } from '../checks.js';
import type { FixedWindowRateLimiterOptions } from '../fixed-window/fixed-window-rate-limiter.js';
import { FixedWindowRateLimiter } from '../fixed-window/fixed-window-rate-limiter.js';
import type { LimiterOptions } from '../engine/limiter-options.js';
import type { RateLimiter } from '../rate-limiter.js';
import type { SlidingWindowRateLimiterOptions } from '../sliding-window/sliding-window-rate-limiter.js';
import { SlidingWindowRateLimiter } from '../sliding-window/sliding-window-rate-limiter.js';
import type { TokenBucketRateLimiterOptions } from '../token-bucket/token-bucket-rate-limiter.js';
import { TokenBucketRateLimiter } from '../token-bucket/token-bucket-rate-limiter.js';
import { NoopRateLimiter } from './noop-rate-limiter.js';

/** What a partitioned limiter lends to the limiters it has made for its partitions. */
export interface PartitionContext {
  /** The clock of the partitioned limiter, for limiters that bring none along. */
  readonly clock: Clock;
}

/**
 * Which partition a resource belongs to, and how its limiter is made when there is none.
 *
 * @typeParam TKey - keys are compared like those of a `Map`, or by what `keyIdentity` makes of them.
 * @typeParam TLimiter - the kind of limiter; one that is only an {@link AsyncRateLimiter} can't answer at once.
 */
export interface RateLimitPartition<TKey, TLimiter extends AsyncRateLimiter = RateLimiter> {
  /** Names the partition. */
  readonly partitionKey: TKey;
  /** Makes the limiter; called once per key while its partition lives. */
  readonly factory: (key: TKey, context?: PartitionContext) => TLimiter;
  /**
   * Asks for new numbers and applies the difference to a living limiter of the partition; only the partitions
   * of the helpers have it.
   */
  refresh?(limiter: TLimiter, key: TKey): void;
}

/** A limiter class whose numbers can change. */
interface Updatable<TOptions> extends RateLimiter {
  updateOptions(changes: Partial<TOptions>): void;
}

function helper<TOptions extends LimiterOptions>(
  name: string,
  make: new (options: TOptions) => Updatable<TOptions>,
): <TKey>(key: TKey, factory: (key: TKey) => TOptions) => RateLimitPartition<TKey> {
  return (partitionKey, factory) => ({
    partitionKey,
    factory: (key, context) => {
      const options = factory(key);
      requireOptions(name, options);
      return new make(
        options.clock === undefined && context !== undefined ? { ...options, clock: context.clock } : options,
      );
    },
    refresh: (limiter, key) => {
      const { clock: _clock, ...numbers } = factory(key);
      (limiter as Updatable<TOptions>).updateOptions(numbers as Partial<TOptions>);
    },
  });
}

/** Makes partitions: `RateLimitPartition.getTokenBucketLimiter(user.id, () => ({ … }))`. */
export const RateLimitPartition = {
  /** A partition with a limiter of any kind, made by the factory. */
  get<TKey, TLimiter extends AsyncRateLimiter>(
    partitionKey: TKey,
    factory: (key: TKey) => TLimiter,
  ): RateLimitPartition<TKey, TLimiter> {
    return { partitionKey, factory };
  },

  /** A partition without a limit. */
  getNoLimiter<TKey>(partitionKey: TKey): RateLimitPartition<TKey> {
    return { partitionKey, factory: (_key, context) => new NoopRateLimiter(context?.clock ?? systemClock) };
  },

  /** A partition with a {@link ConcurrencyLimiter}; the factory gives its options. */
  getConcurrencyLimiter: helper<ConcurrencyLimiterOptions>('getConcurrencyLimiter', ConcurrencyLimiter),

  /** A partition with a {@link TokenBucketRateLimiter}; the factory gives its options. */
  getTokenBucketLimiter: helper<TokenBucketRateLimiterOptions>(
    'getTokenBucketLimiter',
    TokenBucketRateLimiter,
  ),

  /** A partition with a {@link FixedWindowRateLimiter}; the factory gives its options. */
  getFixedWindowLimiter: helper<FixedWindowRateLimiterOptions>(
    'getFixedWindowLimiter',
    FixedWindowRateLimiter,
  ),

  /** A partition with a {@link SlidingWindowRateLimiter}; the factory gives its options. */
  getSlidingWindowLimiter: helper<SlidingWindowRateLimiterOptions>(
    'getSlidingWindowLimiter',
    SlidingWindowRateLimiter,
  ),
};
