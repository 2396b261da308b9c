import type { AsyncRateLimiter, RateLimitPartition } from '@ratelease/limiters';
import type { ApplicationValue, RateLimitingContext } from '../context/rate-limiting-context.js';
import type { PartitionTraits } from './policy-traits.js';
import type { OnRejected } from '../rejection/on-rejected.js';

/** What a partitioner returns: a partition, or the promise of one. */
export type PartitionChoice<TKey> =
  RateLimitPartition<TKey, AsyncRateLimiter> | Promise<RateLimitPartition<TKey, AsyncRateLimiter>>;

/** Chooses the partition of a request. It runs once per acquisition and should be cheap. */
export type Partitioner<TKey = ApplicationValue> = (context: RateLimitingContext) => PartitionChoice<TKey>;

/**
 * A policy: says whom a request counts for, and with which limiter. Implement it in a class with injected
 * services, or pass an instance.
 *
 * A policy lives as long as the application, so its class must not be request-scoped or transient.
 */
export interface IRateLimiterPolicy<TKey = ApplicationValue> extends PartitionTraits {
  /** Chooses the partition of a request; see {@link Partitioner}. */
  getPartition(context: RateLimitingContext): PartitionChoice<TKey>;
  /** Called instead of the module's `onRejected` when a request to an endpoint with this policy is refused. */
  onRejected?: OnRejected;
}
