/** What makes a bucket. */
export interface BucketNumbers {
  /** The most tokens that it holds. */
  readonly tokenLimit: number;
  /** The tokens that a period brings. */
  readonly tokensPerPeriod: number;
  /** The period in milliseconds. */
  readonly replenishmentPeriodMs: number;
}
