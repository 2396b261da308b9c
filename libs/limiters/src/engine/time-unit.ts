import type { Clock } from '../clock.js';
import { notATime } from '../errors.js';

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
  return Math.floor(readMilliseconds(clock));
}

/** When a wait of so many milliseconds ends that begins now, in clock milliseconds. */
export function deadlineAfter(clock: Clock, maxWaitMs: number): number {
  return maxWaitMs === Infinity ? Infinity : readMilliseconds(clock) + maxWaitMs;
}

/** The clock's reading in its own milliseconds. @throws RangeError | TypeError `ERR_RL_INVALID_TIME` - when it is no time. */
export function readMilliseconds(clock: Clock): number {
  const nowMs = clock.now();
  if (Number.isFinite(nowMs)) return nowMs;
  throw notATime(nowMs);
}

/**
 * Time is in whole nanoseconds: what is nearer than this is the same moment. The sum of a reading and a wait may be a bit
 * more or less than the reading of that moment.
 */
export const HALF_A_NANOSECOND_MS = 5e-7;

/**
 * The delay of a timer that must not come before a moment. Where readings are large (milliseconds since 1970 with fractions
 * are told apart by a quarter of a thousandth) that moment may be none that the clock can read; the one before it would be
 * too early, and the timer set anew for it again and again without time going on. So it is the one behind it.
 */
export function delayReaching(nowMs: number, delayMs: number): number {
  const atMs = nowMs + delayMs;
  const isShort = delayMs - (atMs - nowMs) >= HALF_A_NANOSECOND_MS;
  return isShort ? delayMs + Math.abs(atMs) * Number.EPSILON : delayMs;
}

/** The clock's reading in nanoseconds since the origin. */
export function readNanoseconds(clock: Clock, originMs: number): number {
  return sinceOrigin(clock.now(), originMs);
}

/** A reading of the clock in nanoseconds since the origin. */
export function sinceOrigin(nowMs: number, originMs: number): number {
  const elapsed = Math.round((nowMs - originMs) * NANOSECONDS_PER_MILLISECOND);
  // Only a finite number minus itself is zero. Every decision comes by here: this is one operation, and a short one.
  if (elapsed - elapsed !== 0) throw notATime(nowMs);
  return elapsed;
}
