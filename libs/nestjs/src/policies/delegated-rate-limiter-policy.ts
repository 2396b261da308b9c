import type { ApplicationValue, RateLimitingContext } from '../context/rate-limiting-context.js';
import type { OnRejected } from '../rejection/on-rejected.js';
import type { PartitionTraits, WhenFailing } from './policy-traits.js';
import type { IRateLimiterPolicy, PartitionChoice, Partitioner } from './rate-limiter-policy.js';

/** A policy from functions: as an unnamed policy, or where a partitioner needs an `onRejected` of its own. */
export class DelegatedRateLimiterPolicy<TKey = ApplicationValue> implements IRateLimiterPolicy<TKey> {
  readonly #partitioner: Partitioner<TKey>;
  readonly onRejected?: OnRejected;

  /** See {@link PolicyTraits.headers}. */
  readonly headers?: boolean | undefined;
  /** See {@link PolicyTraits.shadow}. */
  readonly shadow?: boolean | undefined;
  /** See {@link PolicyTraits.rejectionStatusCode}. */
  readonly rejectionStatusCode?: number | undefined;
  /** See {@link PolicyTraits.whenFailing}. */
  readonly whenFailing?: WhenFailing | undefined;
  /** See {@link PartitionTraits.maxPartitions}. */
  readonly maxPartitions?: number | undefined;

  constructor(partitioner: Partitioner<TKey>, onRejected?: OnRejected, traits: PartitionTraits = {}) {
    this.headers = traits.headers;
    this.shadow = traits.shadow;
    this.rejectionStatusCode = traits.rejectionStatusCode;
    this.whenFailing = traits.whenFailing;
    this.maxPartitions = traits.maxPartitions;
    this.#partitioner = partitioner;
    if (onRejected !== undefined) this.onRejected = onRejected;
  }

  getPartition(context: RateLimitingContext): PartitionChoice<TKey> {
    return this.#partitioner(context);
  }
}
