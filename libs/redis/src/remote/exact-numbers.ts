import { rangeError } from '../errors.js';

/** The server's clock counts microseconds. */
const SHORTEST_MS = 0.001;

/**
 * A time in whole µs, for a limiter whose arithmetic is exact as long as its limit times that stays below 2^53.
 * @throws RangeError `ERR_RL_INVALID_OPTION` - beyond, and for a time that the server's clock can't tell from none.
 */
export function exactMicroseconds(
  limiter: string,
  option: string,
  milliseconds: number,
  factor: number,
): number {
  if (milliseconds < SHORTEST_MS) {
    throw rangeError(
      'ERR_RL_INVALID_OPTION',
      `Shared ${limiter}: ${option} must be at least ${SHORTEST_MS} ms, as the server’s clock counts microseconds, ` +
        `but got ${milliseconds} ms.`,
    );
  }
  const microseconds = Math.round(milliseconds * 1_000);
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
