import type {
  ConcurrencyLimiterOptions,
  FixedWindowRateLimiterOptions,
  SlidingWindowRateLimiterOptions,
  TokenBucketRateLimiterOptions,
} from '@ratelease/limiters';
import type { WhenUnavailable } from './limiter-definition.js';

/** What every shared limiter can have beside the options that it has in process. */
export interface SharedLimiterOptions {
  /**
   * The name of the limiter's state within a key: limiters of one name and algorithm share it, also where their
   * numbers differ. In a policy of the Nest module the policy's name takes its place.
   * @defaultValue the algorithm and its numbers
   */
  readonly name?: string | undefined;
  /** What is answered when the store can't be asked. @defaultValue as given to `createRedisPartitions` */
  readonly whenUnavailable?: WhenUnavailable | undefined;
  /** Over how many processes `'local'` divides the limit, an integer of at least 1. @defaultValue as there */
  readonly instances?: number | undefined;
  /** Milliseconds after which a command counts as lost, above 0. @defaultValue as there */
  readonly commandTimeoutMs?: number | undefined;
  /** For how many milliseconds at most a refusal is remembered, at least 0. @defaultValue as there */
  readonly refusalCacheMs?: number | undefined;
}

/** What the shared limiters of rates can have beside it. */
export interface SharedRateLimiterOptions extends SharedLimiterOptions {
  /**
   * How many permits, an integer of at least 0, this process may reserve for requests to come, so that it grants them
   * without asking the server. It reserves as many as it spends in a tenth of a second, and fewer and fewer as the
   * limit runs out; what it does not spend within half a second it gives back. Windows are never exceeded by it; of a
   * bucket each process may grant so many more, see
   * _Reserving ahead_ in the guide to shared limits. Not beside a queue.
   * @defaultValue 0
   */
  readonly reserveAhead?: number | undefined;
}

/** Options of a shared concurrency limiter. */
export interface RedisConcurrencyLimiterOptions extends ConcurrencyLimiterOptions, SharedLimiterOptions {
  /**
   * Milliseconds, an integer of at least 1,000, after which the permits of a process that died come back. Leases in
   * use are renewed each third of it.
   * @defaultValue 30,000
   */
  readonly leaseTtlMs?: number | undefined;
}

/** Options of a shared token bucket. `tokenLimit` times the period in µs must stay below 2^53. */
export interface RedisTokenBucketLimiterOptions
  extends TokenBucketRateLimiterOptions, SharedRateLimiterOptions {}

/** Options of a shared fixed window. `permitLimit` times the window in µs must stay below 2^53. */
export interface RedisFixedWindowLimiterOptions
  extends FixedWindowRateLimiterOptions, SharedRateLimiterOptions {}

/** Options of a shared sliding window. `permitLimit` times the window in µs must stay below 2^53. */
export interface RedisSlidingWindowLimiterOptions
  extends SlidingWindowRateLimiterOptions, SharedRateLimiterOptions {}
