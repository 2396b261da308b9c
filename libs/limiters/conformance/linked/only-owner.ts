import type { RateLimitLease, StoredLease } from '../../src/index.js';
import { LinkedLeaseRateLimiter, SingleShareableLeaseOwner } from '../../src/index.js';

/** An owner that keeps its lease in a field. */
export class Owner extends SingleShareableLeaseOwner<string> {
  #lease: RateLimitLease | undefined;

  /** Whether a request has been refused since it was made. */
  get hasRefused(): boolean {
    return this.wasRefused;
  }

  get hasLease(): boolean {
    return this.#lease !== undefined;
  }

  protected override tryGetLease(): RateLimitLease | undefined {
    return this.#lease;
  }

  protected override trySetLease(lease: RateLimitLease): StoredLease {
    this.#lease = lease;
    return { stored: true, lease };
  }
}

/** Links all requests to one owner. */
export class Linked extends LinkedLeaseRateLimiter<string> {
  readonly owner = new Owner();

  protected override getLeaseStore(): Owner {
    return this.owner;
  }
}
