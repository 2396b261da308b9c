import type { RateLimitLease, StoredLease } from '@ratelease/limiters';
import { SingleShareableLeaseOwner } from '@ratelease/limiters';
import type { RateLimitingContext } from '@ratelease/nestjs';

/** Keeps the one permit of something long-lived in a field. */
export class SessionLeaseStore extends SingleShareableLeaseOwner<RateLimitingContext> {
  #lease: RateLimitLease | undefined = undefined;

  /** Whether it never got the permit that its requests have asked for. */
  get isRefused(): boolean {
    return this.#lease === undefined && this.wasRefused;
  }

  protected override tryGetLease(): RateLimitLease | undefined {
    return this.#lease;
  }

  protected override trySetLease(lease: RateLimitLease): StoredLease {
    if (this.#lease !== undefined) return { stored: false, lease: this.#lease };
    this.#lease = lease;
    return { stored: true, lease };
  }
}
