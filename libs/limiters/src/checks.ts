import type { Clock } from './clock.js';
import { systemClock } from './clock.js';
import { rangeError, show, typeError } from './errors.js';

const CODE = 'ERR_RL_INVALID_OPTION';
const isSafeInteger = Number.isSafeInteger as (value: unknown) => value is number;

/** Where an option stands, for messages: `FixedWindowRateLimiter: windowMs`. */
function label(owner: string, option: string): string {
  return `${owner}: ${option}`;
}

/**
 * Makes sure that there is an options object.
 * @throws TypeError `ERR_RL_INVALID_OPTION` - otherwise.
 */
export function requireOptions(owner: string, options: unknown): void {
  if (typeof options === 'object' && options !== null) return;
  throw typeError(CODE, `${owner} needs an options object, but got ${show(options)}.`);
}

function requireNumber(
  owner: string,
  option: string,
  value: unknown,
  allowed: string,
): asserts value is number {
  if (typeof value === 'number') return;
  throw typeError(
    CODE,
    `${label(owner, option)} must be ${allowed}, but got ${show(value)} (${typeof value}). Pass a number.`,
  );
}

/**
 * An integer of at least `minimum` and at most `maximum`.
 * @throws TypeError | RangeError `ERR_RL_INVALID_OPTION` - otherwise.
 */
export function requireInteger(
  owner: string,
  option: string,
  value: unknown,
  [minimum, maximum = Number.MAX_SAFE_INTEGER]: readonly [minimum: number, maximum?: number],
): number {
  const allowed = `an integer from ${minimum} to ${maximum === Number.MAX_SAFE_INTEGER ? '2^53 - 1' : maximum}`;
  requireNumber(owner, option, value, allowed);
  if (Number.isSafeInteger(value) && value >= minimum && value <= maximum) return value + 0;
  throw rangeError(CODE, `${label(owner, option)} must be ${allowed}, but got ${show(value)}.`);
}

/**
 * A finite duration in milliseconds above zero; fractions are allowed.
 * @throws TypeError | RangeError `ERR_RL_INVALID_OPTION` - otherwise.
 */
export function requireDuration(owner: string, option: string, value: unknown): number {
  const allowed = 'a finite number of milliseconds above 0';
  requireNumber(owner, option, value, allowed);
  if (Number.isFinite(value) && value > 0) return value;
  throw rangeError(CODE, `${label(owner, option)} must be ${allowed}, but got ${show(value)}.`);
}

/**
 * A number of milliseconds of at least zero; `Infinity` only where it is allowed.
 * @throws TypeError | RangeError `ERR_RL_INVALID_OPTION` - otherwise.
 */
export function requireDelay(
  owner: string,
  option: string,
  value: unknown,
  infinite: 'finite' | 'or Infinity',
): number {
  const allowed = `a ${infinite === 'finite' ? 'finite ' : ''}number of milliseconds of at least 0`;
  requireNumber(owner, option, value, allowed);
  if (value >= 0 && (infinite === 'or Infinity' || value !== Infinity)) return value;
  throw rangeError(CODE, `${label(owner, option)} must be ${allowed}, but got ${show(value)}.`);
}

/**
 * One of the given words; `undefined` takes the first.
 * @throws TypeError | RangeError `ERR_RL_INVALID_OPTION` - otherwise.
 */
export function requireOneOf<T extends string>(
  owner: string,
  option: string,
  value: unknown,
  words: readonly [T, ...T[]],
): T {
  if (value === undefined) return words[0];
  const allowed = words.map((word) => `'${word}'`).join(' or ');
  if (typeof value !== 'string') {
    throw typeError(
      CODE,
      `${label(owner, option)} must be ${allowed}, but got ${show(value)} (${typeof value}).`,
    );
  }
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  throw rangeError(CODE, `${label(owner, option)} must be ${allowed}, but got ${show(value)}.`);
}

/**
 * A boolean, or the fallback where none was given.
 * @throws TypeError `ERR_RL_INVALID_OPTION` - otherwise.
 */
export function requireBoolean(owner: string, option: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value === 'boolean') return value;
  throw typeError(
    CODE,
    `${label(owner, option)} must be true or false, but got ${show(value)} (${typeof value}).`,
  );
}

/**
 * A function, or `undefined` where none was given.
 * @throws TypeError `ERR_RL_INVALID_OPTION` - otherwise.
 */
export function optionalFunction<T>(owner: string, option: string, value: T | undefined): T | undefined {
  if (value === undefined || typeof value === 'function') return value;
  throw typeError(
    CODE,
    `${label(owner, option)} must be a function, but got ${show(value)} (${typeof value}).`,
  );
}

/**
 * A clock, or the system's where none was given.
 * @throws TypeError `ERR_RL_INVALID_OPTION` - when it lacks `now` or `setTimer`.
 */
export function requireClock(owner: string, value: Clock | undefined): Clock {
  if (value === undefined) return systemClock;
  if (typeof value?.now === 'function' && typeof value.setTimer === 'function') return value;
  throw typeError(
    CODE,
    `${label(owner, 'clock')} must have the methods now and setTimer, but got ${show(value)}.`,
  );
}

/**
 * The number of permits of a request; `-0` is 0.
 * @throws TypeError | RangeError `ERR_RL_INVALID_PERMIT_COUNT` - when it is not an integer of at least 0.
 */
export function requirePermitCount(value: unknown): number {
  if (isSafeInteger(value) && value >= 0) return value + 0;
  throw invalidPermitCount(value);
}

// Apart from the check, which stands in the way of every decision: only short functions are inlined there.
function invalidPermitCount(value: unknown): Error {
  const code = 'ERR_RL_INVALID_PERMIT_COUNT';
  const isTooLarge = Number.isInteger(value) && (value as number) > 0;
  const allowed = isTooLarge ? 'at most 2^53 - 1' : 'an integer of at least 0';
  const message = `permitCount must be ${allowed}, but got ${show(value)}`;
  if (typeof value === 'number') return rangeError(code, `${message}.`);
  return typeError(code, `${message} (${typeof value}). Pass a number, or nothing for 1.`);
}

/**
 * The error for a request that no state of the limiter could ever grant.
 * @param member - which member of a chain it is about.
 */
export function aboveLimit(permitCount: number, limit: number, member: number = 0): RangeError {
  const error = rangeError(
    'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT',
    `permitCount must be at most the limit of ${limit}, but got ${permitCount}: this limiter could never grant it. ` +
      'Ask for fewer permits, or raise the limit.',
  );
  // A chain around the one that it is told of counts its members anew.
  return Object.defineProperty(error, 'member', { value: member, configurable: true });
}
