import { rangeError } from '../errors.js';

/**
 * A time in whole µs, for a limiter whose arithmetic is exact as long as its limit times that stays below 2^53.
 * @throws RangeError `ERR_RL_INVALID_OPTION` - beyond.
 */
export function exactMicroseconds(
  limiter: string,
  option: string,
  milliseconds: number,
  factor: number,
): number {
  const microseconds = Math.max(1, Math.round(milliseconds * 1_000));
  if (microseconds * factor < 2 ** 53) return microseconds;
  throw rangeError(
    'ERR_RL_INVALID_OPTION',
    `Shared ${limiter}: ${factor} times ${option} (${milliseconds} ms) in microseconds must stay below 2^53, beyond ` +
      'which the server’s numbers lose digits. Take a shorter time or a lower limit.',
  );
}

/** The greatest common divisor of two positive integers. */
export function greatestCommonDivisor(a: number, b: number): number {
  let [larger, smaller] = [a, b];
  while (smaller !== 0) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}
