import type { CompiledPolicy } from '../policies/compiled-policy.js';

/** What a policy does at present, and has done since the application runs. */
export interface PolicyOverview {
  /** The policy's name; `global` for the global limiter. */
  readonly policy: string;
  /** How many partitions live, one per key; `null` for a limiter of yours that doesn't tell. */
  readonly partitions: number | null;
  /** Permits that could be taken now, where there is one partition; else `null`. */
  readonly available: number | null;
  /** Requests that wait. */
  readonly queued: number;
  /** Permits in leases that aren't back yet; 0 for what is known to be a rate, which nobody gives back. */
  readonly inUse: number;
  /** Requests granted. */
  readonly granted: number;
  /** Requests refused by this policy. */
  readonly refused: number;
}

/** The row of a policy. */
export function overviewOf({ name, counters, partitionCount, available }: CompiledPolicy): PolicyOverview {
  const { queued, inUse, granted, refused } = counters;
  return { policy: name, partitions: partitionCount, available, queued, inUse, granted, refused };
}
