import type { RateLimitLease } from '../rate-limit-lease.js';
import type { ChainLink } from './chain-link.js';
import { refuseByLink } from './chain-refusal.js';
import type { ChainOwner } from './chain-request.js';
import { ChainRequest } from './chain-request.js';
import { ChainReservation } from './chain-reservation.js';
import { takeAtOnce } from './combined-lease.js';
import { Instant } from './instant.js';
import type { JointWait } from './joint-decision.js';

/** How long a request is ready to wait. */
export interface ChainWait {
  readonly signal: AbortSignal | undefined;
  readonly maxWaitMs: number;
}

/** Decides now: takes from all members, or from none. */
export function attemptChain(links: readonly ChainLink[], permits: number): RateLimitLease {
  const refusing = firstRefusing(links, permits);
  if (refusing === undefined) return takeAtOnce(links, permits);
  return refuseByLink(refusing.refuse(permits), refusing, links, permits);
}

/** The same, but waits in the queue of the first member that refuses, by its rules. */
export function acquireChain(
  links: readonly ChainLink[],
  permits: number,
  owner: ChainOwner,
  wait: ChainWait,
): Promise<RateLimitLease> {
  const refusing = firstRefusing(links, permits);
  if (refusing === undefined) return Promise.resolve(takeAtOnce(links, permits));
  const refusal = refusing.refusalToWait(permits, wait.maxWaitMs, false);
  if (refusal !== null) return Promise.resolve(refuseByLink(refusal, refusing, links, permits));
  const request = new ChainRequest(links, permits, owner, wait.signal);
  request.begin(refusing, wait.maxWaitMs);
  return request.promise;
}

/**
 * The same for a request that goes on elsewhere: all members set aside what it asks for.
 *
 * @returns a {@link SetAsideLease}, or a refusal.
 */
export function reserveChain(
  links: readonly ChainLink[],
  permits: number,
  owner: ChainOwner,
  { signal, maxWaitMs, onWait }: JointWait,
): Promise<RateLimitLease> {
  const refusing = firstRefusing(links, permits);
  const refusal = refusing?.refusalToWait(permits, maxWaitMs, false) ?? null;
  if (refusal !== null) return Promise.resolve(refuseByLink(refusal, refusing!, links, permits));
  const request = new ChainReservation(links, permits, owner, signal);
  if (refusing === undefined) request.beginAtOnce(maxWaitMs);
  else request.begin(refusing, maxWaitMs);
  if (!request.isOver) onWait?.();
  return request.promise;
}

function firstRefusing(links: readonly ChainLink[], permits: number): ChainLink | undefined {
  // All are brought up to date before any is asked: their waiters may belong to the same limiters.
  const instant = new Instant();
  for (const { participant } of links) participant.bringUpToDate(instant);
  for (const link of links) if (!link.canGrant(permits)) return link;
  return undefined;
}
