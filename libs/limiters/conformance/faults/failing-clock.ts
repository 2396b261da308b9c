import type { ClockTimer, TimerOptions } from '../../src/index.js';
import { FakeClock } from '../../src/testing/index.js';

/** A clock that fails for a while. */
export class FailingClock extends FakeClock {
  /** How many more readings it gives; `Infinity`: all is well. */
  failsAfter = Infinity;
  setsNoTimers = false;
  callsBackAtOnce = false;

  override now(): number {
    if (this.failsAfter === 0) throw new Error('The clock fails.');
    this.failsAfter--;
    return super.now();
  }

  override setTimer(callback: () => void, delayMs: number, _options?: TimerOptions): ClockTimer {
    if (this.setsNoTimers) throw new Error('The clock fails.');
    if (this.callsBackAtOnce) callback();
    return super.setTimer(callback, delayMs);
  }
}
