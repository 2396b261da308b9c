import type { Clock } from '../clock.js';

/** One moment for all members of a chain: their clock, nearly always the same one, is read once. */
export class Instant {
  #clock: Clock | null = null;
  #nowMs = 0;

  /** The moment in the milliseconds of a clock. */
  nowMs(clock: Clock): number {
    if (clock !== this.#clock) {
      this.#clock = clock;
      this.#nowMs = clock.now();
    }
    return this.#nowMs;
  }
}
