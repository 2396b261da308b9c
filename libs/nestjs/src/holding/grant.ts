import type { RateLimitLease } from '@ratelease/limiters';
import type { PolicySet } from '../policies/policy-set.js';

/** A granted lease with what was asked for, so that its end can be accounted for. */
export class Grant {
  readonly lease: RateLimitLease;
  readonly set: PolicySet;
  readonly permits: number;

  constructor(lease: RateLimitLease, set: PolicySet, permits: number) {
    this.lease = lease;
    this.set = set;
    this.permits = permits;
  }

  /** Gives the permits back; to be called once. */
  release(): void {
    this.set.noteReleased(this.permits);
    this.lease.dispose();
  }
}
