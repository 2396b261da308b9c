import type { Clock } from '../clock.js';

/**
 * Inside, time is a whole number of nanoseconds since an origin of the limiter's own: readings of the clock are
 * taken to the nearest nanosecond once, and all further arithmetic is on integers.
 */

const NANOSECONDS_PER_MILLISECOND = 1_000_000;

/** A duration option in nanoseconds: at least one, and finite whatever the option was. */
export function toNanoseconds(milliseconds: number): number {
  return Math.min(Math.max(1, Math.round(milliseconds * NANOSECONDS_PER_MILLISECOND)), Number.MAX_VALUE);
}

/** Nanoseconds as (possibly fractional) milliseconds. */
export function toMilliseconds(nanoseconds: number): number {
  return nanoseconds / NANOSECONDS_PER_MILLISECOND;
}

/** The whole milliseconds after which a caller finds the moment reached: rounded up, at least 1. */
export function toRetryAfterMs(nanoseconds: number): number {
  return Math.max(1, Math.ceil(nanoseconds / NANOSECONDS_PER_MILLISECOND));
}

/** The origin for a limiter made now: a whole number of milliseconds, so that subtracting it loses nothing. */
export function originOf(clock: Clock): number {
  return Math.floor(clock.now());
}

/** The clock's reading in nanoseconds since the origin. */
export function readNanoseconds(clock: Clock, originMs: number): number {
  return sinceOrigin(clock.now(), originMs);
}

/** A reading of the clock in nanoseconds since the origin. */
export function sinceOrigin(nowMs: number, originMs: number): number {
  return Math.round((nowMs - originMs) * NANOSECONDS_PER_MILLISECOND);
}
