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
  const granted = new GrantedInOrder();
  for (const ask of asks) {
    let answer: unknown;
    try {
      answer = ask();
    } catch (error) {
      return granted.fail(error);
    }
    const refusal = granted.add(answer);
    if (refusal !== null) return refusal;
  }
  return granted.combine();
}

/** Asks every member, each once the one before it has granted. */
export async function acquireInOrder(
  asks: readonly (() => Promise<RateLimitLease>)[],
): Promise<RateLimitLease> {
  const granted = new GrantedInOrder();
  for (const ask of asks) {
    let answer: unknown;
    try {
      // Each has to know that all before it granted.
      // oxlint-disable-next-line no-await-in-loop
      answer = await ask();
    } catch (error) {
      return granted.fail(error);
    }
    const refusal = granted.add(answer);
    if (refusal !== null) return refusal;
  }
  return granted.combine();
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

/** What the members have granted that were asked so far. */
class GrantedInOrder {
  readonly #leases: RateLimitLease[] = [];

  /** The answer of the next member. Returns the refusal with which the chain ends; `null` where it goes on. */
  add(answer: unknown): RateLimitLease | null {
    let lease: RateLimitLease;
    let isAcquired: boolean;
    try {
      lease = requireLease(answer, this.#leases.length);
      ({ isAcquired } = lease);
    } catch (error) {
      return this.fail(error);
    }
    if (!isAcquired) return this.#refuse(lease);
    this.#leases.push(lease);
    return null;
  }

  /** Gives everything back, and throws the error of the next member. */
  fail(error: unknown): never {
    noteAboveLimit(error, this.#leases.length);
    throwCollected([...disposeInReverse(this.#leases), error], SEVERAL);
    throw error;
  }

  combine(): RateLimitLease {
    return new CombinedLease(this.#leases);
  }

  #refuse(lease: RateLimitLease): RateLimitLease {
    throwCollected(disposeInReverse(this.#leases), SEVERAL);
    noteRefusal(lease, this.#leases.length);
    return lease;
  }
}

/** @throws TypeError `ERR_RL_INVALID_ARGUMENT` - when a member of another maker answers with something else. */
export function requireLease(lease: unknown, member: number): RateLimitLease {
  if (lease instanceof RateLimitLease) return lease;
  throw notALease(`Member ${member} of a chain`, lease);
}
