import type { RateLimitLease } from '@ratelease/limiters';

/** What came out of an acquisition, for a chain that has to know more than the lease tells. */
export interface Outcome {
  readonly lease: RateLimitLease;
  /** The first limiter of the group that refused; -1 for none. */
  readonly refusedBy: number;
  /** Milliseconds until all limiters of the group that refuse would grant. */
  readonly retryAfterOfAllMs: number | undefined;
  /** Set where it came to an end with its limiter: nobody has refused it. */
  readonly isFlushed?: boolean;
}
