/**
 * Exact integer arithmetic on numbers that may pass 2^53 on the way. Products that fit are computed in
 * floating point, which is exact there; the others in `BigInt`.
 */

const { MAX_SAFE_INTEGER } = Number;

/** `floor(dividend / divisor)` for integers of which the dividend is at most 2^53 - 1 and not negative. */
export function divideFloor(dividend: number, divisor: number): number {
  // The division can't be rounded up to the next integer: what is missing to it, at least 1 / divisor, is more than
  // quotient / 2^53, and that is the furthest that a number of this size is rounded.
  return Math.floor(dividend / divisor);
}

/** `floor(a * b / c)` for integers, `a` and `b` not negative, `c` positive. */
export function multiplyDivideFloor(a: number, b: number, c: number): number {
  const product = a * b;
  if (product <= MAX_SAFE_INTEGER) return divideFloor(product, c);
  return Number((BigInt(a) * BigInt(b)) / BigInt(c));
}

/** `ceil(a * b / c)` for integers, `a` and `b` not negative, `c` positive. */
export function multiplyDivideCeil(a: number, b: number, c: number): number {
  const product = a * b;
  if (product <= MAX_SAFE_INTEGER) {
    const floor = divideFloor(product, c);
    return floor * c < product ? floor + 1 : floor;
  }
  const divisor = BigInt(c);
  return Number((BigInt(a) * BigInt(b) + divisor - 1n) / divisor);
}

/** The greatest common divisor of two positive integers. */
export function greatestCommonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}
