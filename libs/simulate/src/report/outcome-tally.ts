import type { OutcomeCounts } from './simulation-report.js';

/** What can become of a request. */
export type Outcome = keyof OutcomeCounts;

/** Counts that are still growing. */
export class OutcomeTally implements OutcomeCounts {
  grantedAtOnce = 0;
  grantedAfterWait = 0;
  refused = 0;

  get requests(): number {
    return this.grantedAtOnce + this.grantedAfterWait + this.refused;
  }

  add(other: OutcomeCounts): void {
    this.grantedAtOnce += other.grantedAtOnce;
    this.grantedAfterWait += other.grantedAfterWait;
    this.refused += other.refused;
  }

  counts(): OutcomeCounts {
    const { grantedAtOnce, grantedAfterWait, refused } = this;
    return { grantedAtOnce, grantedAfterWait, refused };
  }
}
