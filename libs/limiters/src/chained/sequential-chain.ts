import { REASON } from '../engine/refused-lease.js';
import { notALease, throwCollected } from '../errors.js';
import { EndableAcquisition } from '../queue/wait-limit.js';
import { RateLimitLease } from '../rate-limit-lease.js';
import { noteAboveLimit, noteRefusal } from './chain-refusal.js';
import type { ChainOwner } from './chain-request.js';
import { CombinedLease, disposeInReverse } from './combined-lease.js';

/**
 * The last resort for chains with a member that can't be asked without being taken from: the members one after
 * the other, what the earlier ones granted held meanwhile, and given back when a later one refuses or fails.
 */

const SEVERAL = 'Several members of a chain failed.';

/** Asks every member now. */
export function attemptInOrder(asks: readonly (() => RateLimitLease)[]): RateLimitLease {
  const leases: RateLimitLease[] = [];
  for (const ask of asks) {
    let lease: RateLimitLease;
    let isAcquired: boolean;
    try {
      lease = requireLease(ask(), leases.length);
      ({ isAcquired } = lease);
    } catch (error) {
      return failed(error, leases);
    }
    if (!isAcquired) return refused(lease, leases);
    leases.push(lease);
  }
  return new CombinedLease(leases);
}

/** Asks every member, each once the one before it has granted. */
export async function acquireInOrder(
  asks: readonly (() => Promise<RateLimitLease>)[],
): Promise<RateLimitLease> {
  const leases: RateLimitLease[] = [];
  for (const ask of asks) {
    let lease: RateLimitLease;
    let isAcquired: boolean;
    try {
      // Each has to know that all before it granted.
      // oxlint-disable-next-line no-await-in-loop
      lease = requireLease(await ask(), leases.length);
      ({ isAcquired } = lease);
    } catch (error) {
      return failed(error, leases);
    }
    if (!isAcquired) return refused(lease, leases);
    leases.push(lease);
  }
  return new CombinedLease(leases);
}

/** Asks limiters on behalf of a chain that know nothing of it: their waits end with it by a signal. */
export async function untilItEnds(
  owner: ChainOwner,
  signal: AbortSignal | undefined,
  acquire: (signal: AbortSignal) => Promise<RateLimitLease>,
): Promise<RateLimitLease> {
  const acquisition = new EndableAcquisition(REASON.limiterDisposed);
  owner.waitingElsewhere.add(acquisition);
  try {
    return await acquisition.run(acquire, signal);
  } finally {
    owner.waitingElsewhere.delete(acquisition);
  }
}

/** @throws TypeError `ERR_RL_INVALID_ARGUMENT` - when a member of another maker answers with something else. */
export function requireLease(lease: unknown, member: number): RateLimitLease {
  if (lease instanceof RateLimitLease) return lease;
  throw notALease(`Member ${member} of a chain`, lease);
}

function refused(lease: RateLimitLease, leases: readonly RateLimitLease[]): RateLimitLease {
  throwCollected(disposeInReverse(leases), SEVERAL);
  noteRefusal(lease, leases.length);
  return lease;
}

function failed(error: unknown, leases: readonly RateLimitLease[]): never {
  noteAboveLimit(error, leases.length);
  const errors = [...disposeInReverse(leases), error];
  throwCollected(errors, SEVERAL);
  throw error;
}
