import type { Clock, ClockTimer, TimerOptions } from '../clock.js';
import { calledBackAtOnce } from '../errors.js';

/** The callback whose timer is being set right now. */
let setting: (() => void) | null = null;

/**
 * Sets a timer whose callback begins with {@link assertTimerIsSet}.
 *
 * @throws whatever the clock throws.
 */
export function setTimer(
  clock: Clock,
  callback: () => void,
  delayMs: number,
  // oxlint-disable-next-line max-params -- those of the clock's own method
  options?: TimerOptions,
): ClockTimer {
  const outer = setting;
  setting = callback;
  try {
    return clock.setTimer(callback, delayMs, options);
  } finally {
    setting = outer;
  }
}

/**
 * For the callback of a timer: a clock that calls it before it has set the timer does so in the midst of a decision, and
 * for a timer that is set anew as its time has not come it would do so again and again.
 *
 * @throws RangeError `ERR_RL_INVALID_TIME`
 */
export function assertTimerIsSet(callback: () => void): void {
  if (setting === callback) throw calledBackAtOnce();
}
