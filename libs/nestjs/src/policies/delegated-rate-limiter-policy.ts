import type { ApplicationValue, RateLimitingContext } from '../context/rate-limiting-context.js';
import type { OnRejected } from '../rejection/on-rejected.js';
import type { IRateLimiterPolicy, PartitionChoice, Partitioner } from './rate-limiter-policy.js';

/** A policy from functions: as an unnamed policy, or where a partitioner needs an `onRejected` of its own. */
export class DelegatedRateLimiterPolicy<TKey = ApplicationValue> implements IRateLimiterPolicy<TKey> {
  readonly #partitioner: Partitioner<TKey>;
  readonly onRejected?: OnRejected;

  constructor(partitioner: Partitioner<TKey>, onRejected?: OnRejected) {
    this.#partitioner = partitioner;
    if (onRejected !== undefined) this.onRejected = onRejected;
  }

  getPartition(context: RateLimitingContext): PartitionChoice<TKey> {
    return this.#partitioner(context);
  }
}
