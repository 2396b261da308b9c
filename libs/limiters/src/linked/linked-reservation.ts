import type { Reservation } from '../chained/chain-participant.js';
import { typeError } from '../errors.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { LinkedParticipant } from './linked-participant.js';

/**
 * A place in the owner's lease for a request that waits for others: a reserved permit of the reference limiter,
 * which goes back as soon as there is a lease that makes it needless.
 */
export class LinkedReservation implements Reservation {
  readonly #participant: LinkedParticipant;
  readonly #permits: number;
  #base: Reservation | null;

  constructor(participant: LinkedParticipant, permits: number, base: Reservation | null) {
    this.#participant = participant;
    this.#permits = permits;
    this.#base = base;
    if (base !== null) participant.group.reservations.add(this);
  }

  grant(): RateLimitLease {
    const lease = this.#participant.takeBy(this.#permits, () => this.#grantBase());
    this.undo();
    return lease;
  }

  undo(): void {
    const base = this.#leaveBase();
    base?.undo();
  }

  #grantBase(): RateLimitLease {
    const base = this.#leaveBase();
    if (base !== null) return base.grant();
    throw typeError(
      'ERR_RL_INVALID_ARGUMENT',
      `${this.#participant.group.shared.name}.tryGetLease has lost a lease that it had: a stored lease has to stay ` +
        'until its owner is disposed.',
    );
  }

  #leaveBase(): Reservation | null {
    const base = this.#base;
    this.#base = null;
    this.#participant.group.reservations.delete(this);
    return base;
  }
}
