import type { LimiterCore } from './limiter-core.js';
import type { StatePlace } from './placed-state.js';

/** A place whose states several cores may stand for. */
export interface SharedPlace extends StatePlace {
  /**
   * Several cores may stand for one state for a moment; the one with waiters or holds is its resident, and
   * everything that may wake a waiter has to go to it.
   */
  readonly residents: CoreResidents;
}

/** The residents of a place. */
export interface CoreResidents {
  residentAt(at: number): LimiterCore | undefined;
  settle(core: LimiterCore, at: number): void;
}
