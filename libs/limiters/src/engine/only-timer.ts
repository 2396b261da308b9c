import type { Clock, ClockTimer, TimerOptions } from '../clock.js';
import { setTimer } from './clock-timer.js';

/**
 * The one timer of its owner. Before a clock has set or cancelled a timer it may run code of others that comes back here,
 * and sets it for another time or takes it back: then that is the last word, and no timer is left that nobody knows of.
 */
export class OnlyTimer {
  #timer: ClockTimer | null = null;
  /** Counts what was asked for. */
  #words = 0;

  /**
   * Sets it in the place of the one before, if any; the callback begins with `assertTimerIsSet`. Where the clock can't set
   * it, that one stays: somebody waits for it.
   *
   * @returns `false` where somebody else has had the last word.
   */
  // oxlint-disable-next-line max-params -- those of the clock's own method
  set(clock: Clock, callback: () => void, delayMs: number, options?: TimerOptions): boolean {
    const word = ++this.#words;
    const timer = setTimer(clock, callback, delayMs, options);
    if (word !== this.#words) {
      timer.cancel();
      return false;
    }
    const before = this.#timer;
    this.#timer = timer;
    before?.cancel();
    return word === this.#words;
  }

  /** Does nothing where there is none, or it has fired. */
  cancel(): void {
    this.#words++;
    const timer = this.#timer;
    this.#timer = null;
    timer?.cancel();
  }
}
