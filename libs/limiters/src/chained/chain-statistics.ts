import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';

/** The statistics of a chain: the scarcest member's permits, everything else summed; members without any are passed over. */
export function combineStatistics(all: Iterable<RateLimiterStatistics | null>): RateLimiterStatistics {
  let currentAvailablePermits = Infinity;
  let currentQueuedCount = 0;
  let totalFailedLeases = 0;
  let totalSuccessfulLeases = 0;
  for (const one of all) {
    if (one === null) continue;
    currentAvailablePermits = Math.min(currentAvailablePermits, one.currentAvailablePermits);
    currentQueuedCount += one.currentQueuedCount;
    totalFailedLeases += one.totalFailedLeases;
    totalSuccessfulLeases += one.totalSuccessfulLeases;
  }
  return { currentAvailablePermits, currentQueuedCount, totalFailedLeases, totalSuccessfulLeases };
}
