import { rangeError, shown, typeError } from './errors.js';
import type { WhenUnavailable } from './remote/limiter-definition.js';

const CODE = 'ERR_RL_INVALID_OPTION';
const ANSWERS: readonly WhenUnavailable[] = ['allow', 'deny', 'local'];

/** @throws TypeError | RangeError `ERR_RL_INVALID_OPTION` - when it is no integer of at least so much. */
export function positiveInteger(label: string, value: unknown, minimum: number): number {
  if (typeof value !== 'number')
    throw typeError(CODE, `${label} must be an integer of at least ${minimum}, but got ${shown(value)}.`);
  if (Number.isSafeInteger(value) && value >= minimum) return value;
  throw rangeError(CODE, `${label} must be an integer of at least ${minimum}, but got ${value}.`);
}

/** @throws TypeError | RangeError `ERR_RL_INVALID_OPTION` - when it is no finite number of milliseconds above 0. */
export function positiveTime(
  label: string,
  value: unknown,
  allowed = 'a finite number of milliseconds above 0',
): number {
  if (typeof value !== 'number')
    throw typeError(CODE, `${label} must be ${allowed}, but got ${shown(value)}.`);
  if (Number.isFinite(value) && value > 0) return value;
  throw rangeError(CODE, `${label} must be ${allowed}, but got ${value}.`);
}

/** @throws TypeError | RangeError `ERR_RL_INVALID_OPTION` - when it is no finite number of milliseconds of at least 0. */
export function requireTime(label: string, value: unknown): number {
  return value === 0 ? 0 : positiveTime(label, value, 'a finite number of milliseconds of at least 0');
}

/** @throws RangeError `ERR_RL_INVALID_OPTION` - for another word. */
export function requireWhenUnavailable(owner: string, value: unknown): WhenUnavailable {
  const found = ANSWERS.find((answer) => answer === value);
  if (found !== undefined) return found;
  throw rangeError(
    CODE,
    `${owner}: whenUnavailable must be 'allow', 'deny' or 'local', but got ${shown(value)}.`,
  );
}

/** @throws TypeError | RangeError `ERR_RL_INVALID_PERMIT_COUNT` - when it is no integer of at least 0. */
export function requirePermits(value: unknown): number {
  // Checked for each request: the message is written where it is needed only.
  if (Number.isSafeInteger(value) && (value as number) >= 0) return (value as number) + 0;
  const message = `permitCount must be an integer of at least 0, but got ${shown(value)}.`;
  if (typeof value !== 'number') throw typeError('ERR_RL_INVALID_PERMIT_COUNT', message);
  throw rangeError('ERR_RL_INVALID_PERMIT_COUNT', message);
}

/** @throws TypeError | RangeError `ERR_RL_INVALID_OPTION` - when it is given and no number of at least 0. */
export function requireMaxWait(value: unknown): void {
  if (value === undefined || (typeof value === 'number' && value >= 0)) return;
  const message = `acquire: maxWaitMs must be a number of milliseconds of at least 0, but got ${shown(value)}.`;
  throw typeof value === 'number' ? rangeError(CODE, message) : typeError(CODE, message);
}

/** @throws TypeError `ERR_RL_INVALID_OPTION` - when it is no text, empty, or would end a hash tag. */
export function requirePrefix(label: string, value: unknown): void {
  if (typeof value === 'string' && value !== '' && !/[{}]/.test(value)) return;
  throw typeError(CODE, `${label} must be a text without braces that is not empty, but got ${shown(value)}.`);
}
