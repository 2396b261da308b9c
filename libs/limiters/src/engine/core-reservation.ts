import type { Reservation } from '../chained/chain-participant.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { LimiterCore } from './limiter-core.js';

/** Permits of a limiter taken for a request that still waits for other limiters. */
export class CoreReservation implements Reservation {
  readonly permits: number;
  readonly receipt: number;
  readonly epoch: number;
  readonly #core: LimiterCore;
  #owed: number;

  constructor(core: LimiterCore, permits: number, receipt: number) {
    this.permits = permits;
    this.receipt = receipt;
    this.epoch = core.epoch;
    this.#core = core;
    this.#owed = permits;
  }

  /** How many permits the limiter would have more if they had never been taken. */
  get owed(): number {
    return this.#owed;
  }

  /** Time has made up for all but so many. Returns how many are left. */
  clip(most: number): number {
    this.#owed = Math.min(this.#owed, most);
    return this.#owed;
  }

  grant(): RateLimitLease {
    return this.#core.grantReserved(this);
  }

  undo(): void {
    this.#core.undoReserved(this);
  }
}

/** The open reservations of a limiter. */
export class Reservations {
  readonly #open = new Set<CoreReservation>();

  add(reservation: CoreReservation): void {
    this.#open.add(reservation);
  }

  delete(reservation: CoreReservation): void {
    this.#open.delete(reservation);
  }

  /**
   * Without its reservations the limiter would have been full earlier and gathered nothing since: they are owed
   * together no more than what is missing at present.
   */
  clip(missing: number): void {
    let owed = missing;
    for (const reservation of this.#open) owed -= reservation.clip(Math.max(0, owed));
  }
}
