/** What a policy has done since it was made: running counters, so that nobody has to walk over its keys. */
export class PolicyCounters {
  /** Leases granted. */
  granted = 0;
  /** Requests that this policy refused. */
  refused = 0;
  /** Requests that wait. */
  queued = 0;
  /** Permits in leases that aren't back yet. */
  inUse = 0;
}
