import type { Reservation } from '../chained/chain-participant.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { LimiterCore } from './limiter-core.js';

/** Permits of a limiter taken for a request that still waits for other limiters. */
export class CoreReservation implements Reservation {
  readonly #core: LimiterCore;
  readonly #permits: number;
  readonly #receipt: number;
  readonly #epoch: number;

  constructor(core: LimiterCore, permits: number, receipt: number) {
    this.#core = core;
    this.#permits = permits;
    this.#receipt = receipt;
    this.#epoch = core.epoch;
  }

  grant(): RateLimitLease {
    return this.#core.grant(this.#permits);
  }

  undo(): void {
    this.#core.undo(this.#permits, this.#receipt, this.#epoch);
  }
}
