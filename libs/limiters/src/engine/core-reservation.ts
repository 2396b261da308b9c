import type { Reservation } from '../chained/chain-participant.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { LimiterCore } from './limiter-core.js';

/**
 * Permits of a limiter set aside for a request that still waits for other limiters. They are taken when it is
 * granted, not before: what time would bring back meanwhile must not be granted twice.
 */
export class CoreReservation implements Reservation {
  readonly #core: LimiterCore;
  readonly #permits: number;
  #isOver = false;

  constructor(core: LimiterCore, permits: number) {
    this.#core = core;
    this.#permits = permits;
  }

  grant(): RateLimitLease {
    this.#isOver = true;
    return this.#core.grantReserved(this.#permits);
  }

  undo(): void {
    // Where a clock fails in the midst of several grants, what has been granted is undone with the rest.
    if (this.#isOver) return;
    this.#isOver = true;
    this.#core.undoReserved(this.#permits);
  }
}
