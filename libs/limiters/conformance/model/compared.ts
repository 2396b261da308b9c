// `expect` makes all its matchers anew for each value that it is given. In a model's inner loop, which compares after every
// step of every trial, that took more than the limiters: here it is asked only where something differs, and says what.
import { isDeepStrictEqual } from 'node:util';

/** Fails as `toEqual` does. What is deeply and strictly equal is so to `toEqual` too, which overlooks more. */
export function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

/** Fails as `toBe` does. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (!Object.is(actual, expected)) expect(actual).toBe(expected);
}

/** Fails as `toBeLessThanOrEqual` does, and where one of the two is no number. */
export function expectAtMost(actual: number, most: number): void {
  if (!(actual <= most)) expect(actual).toBeLessThanOrEqual(most);
}
