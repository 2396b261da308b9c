import type { ChainParticipant } from '@ratelease/limiters';
import { chainParticipants } from '@ratelease/limiters';

/** Makes a limiter as new. @returns whether it knows how. */
export function resetLimiter(limiter: unknown): boolean {
  const { reset } = limiter as { reset?: unknown };
  if (typeof reset !== 'function') return false;
  reset.call(limiter);
  return true;
}

/**
 * Has the limiter of a partition forget what was spent. What is held by running work stays held where the limiter
 * is one of many in a table: its leases would give back to a state that has forgotten them.
 */
export function resetPartition(limiter: unknown): boolean {
  if (resetLimiter(limiter)) return true;
  const members = (limiter as { [chainParticipants]?(): readonly ChainParticipant[] | null })[
    chainParticipants
  ]?.();
  if (members == null) return false;
  return members.every((member) => member.quota().windowMs === undefined || resetLimiter(member));
}
