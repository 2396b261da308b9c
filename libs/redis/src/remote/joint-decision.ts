import type { AsyncRateLimiter, RateLimitLease, WaitLimits } from '@ratelease/limiters';

/**
 * The key under which a limiter offers to decide together with others: chains ask limiters of the same domain once,
 * not one after the other.
 */
export const jointDecision: unique symbol = Symbol.for('ratelease.joint-decision') as never;

/** What a limiter offers under {@link jointDecision}. */
export interface JointDecider {
  /** Limiters whose domains are the same value can be asked together. */
  readonly domain: unknown;
  /** Asks limiters of the domain: all of them grant, or none is charged. */
  acquire(limiters: readonly AsyncRateLimiter[], permits: number, wait: WaitLimits): Promise<JointOutcome>;
}

/** What came out. */
export interface JointOutcome {
  readonly lease: RateLimitLease;
  /** The index of the limiter that refused; -1 for none. */
  readonly refusedBy: number;
  /** Whole milliseconds until all limiters that refuse would grant; `undefined` where unknown. */
  readonly retryAfterOfAllMs: number | undefined;
}
