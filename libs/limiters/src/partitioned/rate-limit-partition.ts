import type { AsyncRateLimiter } from '../async-rate-limiter.js';
import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import type { ConcurrencyLimiterOptions } from '../concurrency/concurrency-limiter.js';
import { ConcurrencyLimiter, concurrencyLimiterKind } from '../concurrency/concurrency-limiter.js';
import { show, typeError } from '../errors.js';
import type { FixedWindowRateLimiterOptions } from '../fixed-window/fixed-window-rate-limiter.js';
import {
  FixedWindowRateLimiter,
  fixedWindowRateLimiterKind,
} from '../fixed-window/fixed-window-rate-limiter.js';
import type { LimiterOptions } from '../engine/limiter-options.js';
import type { RateLimiter } from '../rate-limiter.js';
import type { SlidingWindowRateLimiterOptions } from '../sliding-window/sliding-window-rate-limiter.js';
import {
  SlidingWindowRateLimiter,
  slidingWindowRateLimiterKind,
} from '../sliding-window/sliding-window-rate-limiter.js';
import type { TokenBucketRateLimiterOptions } from '../token-bucket/token-bucket-rate-limiter.js';
import {
  TokenBucketRateLimiter,
  tokenBucketRateLimiterKind,
} from '../token-bucket/token-bucket-rate-limiter.js';
import type { HelperKind } from './helper-partition.js';
import { HelperPartition } from './helper-partition.js';
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
  /**
   * Makes the limiter; called once per key while its partition lives. That of a helper has to be called on its
   * partition (`partition.factory(key)`).
   */
  readonly factory: (key: TKey, context?: PartitionContext) => TLimiter;
  /**
   * Asks for new numbers and applies the difference to a living limiter of the partition; only the partitions
   * of the helpers, and those of limiters shared by processes, have it.
   */
  refresh?(limiter: TLimiter, key: TKey, context: PartitionContext): void;
}

function helper<TOptions extends LimiterOptions>(
  kind: HelperKind<TOptions>,
): <TKey>(key: TKey, factory: (key: TKey) => TOptions) => RateLimitPartition<TKey> {
  return (partitionKey, factory) => {
    if (typeof factory === 'function') return new HelperPartition(kind, partitionKey, factory);
    throw typeError(
      'ERR_RL_INVALID_ARGUMENT',
      `RateLimitPartition.${kind.helper} needs a function that returns options, but got ${show(factory)}. ` +
        'Wrap them: () => ({ … }).',
    );
  };
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
  getConcurrencyLimiter: helper<ConcurrencyLimiterOptions>({
    helper: 'getConcurrencyLimiter',
    kind: concurrencyLimiterKind,
    limiter: ConcurrencyLimiter,
  }),

  /** A partition with a {@link TokenBucketRateLimiter}; the factory gives its options. */
  getTokenBucketLimiter: helper<TokenBucketRateLimiterOptions>({
    helper: 'getTokenBucketLimiter',
    kind: tokenBucketRateLimiterKind,
    limiter: TokenBucketRateLimiter,
  }),

  /** A partition with a {@link FixedWindowRateLimiter}; the factory gives its options. */
  getFixedWindowLimiter: helper<FixedWindowRateLimiterOptions>({
    helper: 'getFixedWindowLimiter',
    kind: fixedWindowRateLimiterKind,
    limiter: FixedWindowRateLimiter,
  }),

  /** A partition with a {@link SlidingWindowRateLimiter}; the factory gives its options. */
  getSlidingWindowLimiter: helper<SlidingWindowRateLimiterOptions>({
    helper: 'getSlidingWindowLimiter',
    kind: slidingWindowRateLimiterKind,
    limiter: SlidingWindowRateLimiter,
  }),
};
