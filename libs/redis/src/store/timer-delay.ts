/** Beyond it Node.js takes a delay for none. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** A time as the delay of a timer, which may fire before it where that is longer than a timer can be set. */
export function timerDelay(ms: number): number {
  return Math.min(LONGEST_DELAY_MS, Math.max(1, Math.ceil(ms)));
}
