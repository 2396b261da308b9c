import { AcquiredLease } from '../engine/granted-lease.js';
import type { RateLimitLease } from '../rate-limit-lease.js';

/** What a request holds of a participant until the lease of all of them is complete; nothing afterwards. */
export class PartLease extends AcquiredLease {
  private lease: RateLimitLease | null;

  constructor(lease: RateLimitLease | null) {
    super();
    this.lease = lease;
  }

  /** From now on it belongs to somebody else. */
  handOver(): RateLimitLease {
    const lease = this.lease!;
    this.lease = null;
    return lease;
  }

  override dispose(): void {
    const { lease } = this;
    this.lease = null;
    lease?.dispose();
  }
}
