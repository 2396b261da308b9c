import type { Clock } from '../clock.js';

/** One moment for all members of a chain: each of their clocks, nearly always the same one, is read once. */
export class Instant {
  #clock: Clock | null = null;
  #nowMs = 0;
  /** The same moment in the milliseconds of the other clocks. */
  #others: Instant | null = null;

  /** The moment in the milliseconds of a clock. */
  nowMs(clock: Clock): number {
    if (clock === this.#clock) return this.#nowMs;
    if (this.#clock !== null) return (this.#others ??= new Instant()).nowMs(clock);
    this.#nowMs = clock.now();
    this.#clock = clock;
    return this.#nowMs;
  }
}
