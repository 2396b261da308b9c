import { AcquiredLease } from '../engine/granted-lease.js';
import { RefusedLease } from '../engine/refused-lease.js';
import { errorsOfEach, throwCollected } from '../errors.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { ChainLink } from './chain-link.js';
import type { Reservation } from './chain-participant.js';
import { refuseByLink } from './chain-refusal.js';
import { ChainRequest } from './chain-request.js';
import { finishTaking } from './combined-lease.js';

/**
 * A request for limiters in this process that goes on elsewhere: all of them set aside what it asks for, and it is
 * taken only when the others have granted too. Until then it can be undone, a rate too.
 */
export class ChainReservation extends ChainRequest {
  #order: readonly ChainLink[] = [];
  /** What is set aside, in that order; `null` before and afterwards. */
  #aside: readonly Reservation[] | null = null;

  /**
   * Takes what is set aside, or refuses where that can never be granted any more: then it is undone.
   *
   * @throws what a member fails with, all others being undone.
   */
  take(): RateLimitLease {
    const aside = this.#aside!;
    const obstacle = this.obstacle();
    if (obstacle !== null) {
      this.undo();
      return refuseByLink(new RefusedLease(obstacle), this.#hindering, this.links, this.asked);
    }
    let lease: RateLimitLease | null = null;
    try {
      lease = super.leaseFor(this.#order, aside);
      this.#aside = null;
      finishTaking(this.links);
      this.unhold();
      return lease;
    } catch (error) {
      // Nobody would get the lease.
      const errors = errorsOfEach([(): void => lease?.dispose(), (): void => this.undo()], (end) => end());
      throwCollected([...errors, error], 'Several members of a chain failed.');
      throw error;
    }
  }

  /** As if it had never been asked for. */
  undo(): void {
    const aside = this.#aside;
    if (aside === null) return;
    this.#aside = null;
    const errors = errorsOfEach([...aside].reverse(), (reservation) => reservation.undo());
    this.unhold();
    throwCollected(errors, 'Several members of a chain failed to take back what was reserved.');
  }

  /** The first that can never grant it any more; the first of all where it is the chain that has ended. */
  get #hindering(): ChainLink {
    const hindering = this.links.find((link) => link.participant.isDisposed || link.isBelow(this.asked));
    return hindering ?? this.links[0]!;
  }

  protected override get onlyReserves(): boolean {
    return true;
  }

  protected override leaseFor(order: readonly ChainLink[], reserved: readonly Reservation[]): RateLimitLease {
    this.#order = order;
    this.#aside = reserved;
    return new SetAsideLease(this);
  }

  protected override grant(lease: RateLimitLease): void {
    if (!this.settle(lease)) lease.dispose();
  }

  protected override unhold(): void {
    // What is set aside is not idle.
    if (this.#aside === null) super.unhold();
  }
}

/** What a {@link ChainReservation} is answered with: nobody but the chain sees it. */
export class SetAsideLease extends AcquiredLease {
  readonly #reservation: ChainReservation;

  constructor(reservation: ChainReservation) {
    super();
    this.#reservation = reservation;
  }

  /** See {@link ChainReservation.take}. */
  take(): RateLimitLease {
    return this.#reservation.take();
  }

  override dispose(): void {
    this.#reservation.undo();
  }
}
