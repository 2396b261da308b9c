/** The reason phrases of refused leases, those of the limiters in process. */
export const REASON = {
  permitLimitReached: 'Permit limit reached',
  queueLimitReached: 'Queue limit reached',
  evicted: 'Evicted by a newer request',
  limiterDisposed: 'Limiter disposed',
  waitLimitReached: 'Wait limit reached',
} as const;

/** Why a wait that ended so is refused. */
export const REASON_OF_END = {
  evicted: REASON.evicted,
  timedOut: REASON.waitLimitReached,
  disposed: REASON.limiterDisposed,
} as const;
