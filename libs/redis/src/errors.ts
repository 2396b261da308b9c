import type { RateLimitErrorCode } from '@ratelease/limiters';

/** By this mark `isRateLimitError` knows the errors of all packages. */
const BRAND = Symbol.for('ratelease.error');

function brand<T extends Error>(error: T, code: RateLimitErrorCode): T {
  Object.defineProperty(error, BRAND, { value: true });
  Object.defineProperty(error, 'code', { value: code, enumerable: true });
  return error;
}

/** A value of the right type outside its legal range. */
export function rangeError(code: RateLimitErrorCode, message: string): RangeError {
  return brand(new RangeError(message), code);
}

/** A count that a limiter could never grant, the so-many-eth of those that are asked together; see `refusedMember`. */
export function aboveLimit(permits: number, limit: number, member: number): RangeError {
  const error = rangeError(
    'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT',
    `permitCount must be at most the limit of ${limit}, but got ${permits}: this limiter could never grant it.`,
  );
  return Object.defineProperty(error, 'member', { value: member, configurable: true });
}

/** A value of the wrong type. */
export function typeError(code: RateLimitErrorCode, message: string): TypeError {
  return brand(new TypeError(message), code);
}

/** A value as a message shows it. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === 'object' && value !== null)
    return `an object (${value.constructor?.name ?? 'no prototype'})`;
  return typeof value === 'function' ? `function ${value.name || '(anonymous)'}` : String(value);
}
