import type { AsyncPartitionedRateLimiter } from '@ratelease/limiters';
import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import type { PolicyTraits, WhenFailing } from './policy-traits.js';
import type { OnRejected } from '../rejection/on-rejected.js';

/** What a policy made of a limiter may bring along. */
export interface SelectivePolicyOptions extends PolicyTraits {
  /** Called instead of the module's `onRejected`. */
  readonly onRejected?: OnRejected | undefined;
}

/**
 * A policy made of any partitioned limiter for {@link RateLimitingContext}s: a chain, a translated one, one of
 * your own. The limiter stays yours: the module asks it and never disposes it.
 */
export class SelectiveRateLimiterPolicy implements PolicyTraits {
  /** What is asked for permits. */
  readonly limiter: AsyncPartitionedRateLimiter<RateLimitingContext>;
  /** See {@link SelectivePolicyOptions.onRejected}. */
  readonly onRejected?: OnRejected;

  /** See {@link PolicyTraits.headers}. */
  readonly headers?: boolean | undefined;
  /** See {@link PolicyTraits.shadow}. */
  readonly shadow?: boolean | undefined;
  /** See {@link PolicyTraits.rejectionStatusCode}. */
  readonly rejectionStatusCode?: number | undefined;
  /** See {@link PolicyTraits.whenFailing}. */
  readonly whenFailing?: WhenFailing | undefined;

  constructor(
    limiter: AsyncPartitionedRateLimiter<RateLimitingContext>,
    options: SelectivePolicyOptions = {},
  ) {
    this.limiter = limiter;
    this.headers = options.headers;
    this.shadow = options.shadow;
    this.rejectionStatusCode = options.rejectionStatusCode;
    this.whenFailing = options.whenFailing;
    if (options.onRejected !== undefined) this.onRejected = options.onRejected;
  }
}
