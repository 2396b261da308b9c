/** A snapshot of a limiter's counters. */
export interface RateLimiterStatistics {
  /** Permits free at this moment: whole tokens for a bucket, never below 0, `Infinity` where there is no limit. */
  readonly currentAvailablePermits: number;
  /** The sum of the permits that waiting requests ask for. */
  readonly currentQueuedCount: number;
  /** Refusals: immediate ones, evictions from the queue and waits that were too long. Not errors, not aborts. */
  readonly totalFailedLeases: number;
  /** Grants, those of zero permits too. */
  readonly totalSuccessfulLeases: number;
}
