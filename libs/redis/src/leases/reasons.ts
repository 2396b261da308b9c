import type { LimiterDefinition } from '../remote/limiter-definition.js';

/** The reason phrases of refused leases, those of the limiters in process. */
export const REASON = {
  permitLimitReached: 'Permit limit reached',
  queueLimitReached: 'Queue limit reached',
  evicted: 'Evicted by a newer request',
  limiterDisposed: 'Limiter disposed',
  waitLimitReached: 'Wait limit reached',
  limitLowered: 'Limit lowered',
} as const;

/** Why a wait that ended so is refused. */
export const REASON_OF_END = {
  evicted: REASON.evicted,
  timedOut: REASON.waitLimitReached,
  disposed: REASON.limiterDisposed,
} as const;

/** What a request finds that a limiter refuses. */
export interface QueueSeen {
  /** Whether it may wait. */
  readonly mayWait: boolean;
  /** Whether the limiter's queue would have had a place for it. */
  readonly hasRoom: boolean;
}

/** Why a limiter refuses a request that it did not let into its queue. */
export function reasonOfRefusal(
  { algorithm, queueLimit }: Pick<LimiterDefinition, 'algorithm' | 'queueLimit'>,
  { mayWait, hasRoom }: QueueSeen,
): string | undefined {
  const didNotWait = queueLimit > 0 && !mayWait && hasRoom;
  if (didNotWait) return REASON.waitLimitReached;
  if (algorithm !== 'concurrency') return undefined;
  return queueLimit === 0 ? REASON.permitLimitReached : REASON.queueLimitReached;
}
