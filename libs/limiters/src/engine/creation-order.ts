/**
 * Counts limiters as they are made. Requests that reserve go through their limiters in this order, so that no
 * two of them wait for each other; all loaded copies of the package count together.
 */
const KEY = Symbol.for('ratelease.creation-order');

const counter = ((globalThis as Record<symbol, unknown>)[KEY] ??= { last: 0 }) as { last: number };

/** The place of a new limiter in the order of creation. */
export function nextCreationOrder(): number {
  return ++counter.last;
}
