import type { AcquireOptions } from '@ratelease/limiters';
import { InvalidContextError } from '../errors/invalid-context-error.js';
import { shown } from '../errors/shown.js';
import { assertObject } from './context-fields.js';

/** What an acquisition outside handlers may bring along. */
export interface ServiceAcquireOptions extends AcquireOptions {
  /** Integer of at least 0, at most the limit; 0 asks without taking. @defaultValue 1 */
  readonly permitCount?: number | undefined;
}

/** The same, with nothing left open. */
export interface CheckedOptions {
  readonly permitCount: number;
  readonly signal: AbortSignal | undefined;
  readonly maxWaitMs: number;
}

/**
 * The options with their defaults. What bounds a wait is looked at here, since nobody else does where no wait comes; the
 * limiters look at the count.
 *
 * @param place - the method that got them, for the message.
 * @throws InvalidContextError `ERR_RL_INVALID_ARGUMENT` - for what bounds no wait, and for what is no object.
 */
export function checkedOptions(options: ServiceAcquireOptions, place: string): CheckedOptions {
  assertObject(options, place, 'options such as { permitCount: 2 }');
  const { permitCount = 1, signal, maxWaitMs = Infinity } = options;
  if (signal !== undefined && !isSignal(signal))
    throw new InvalidContextError(`${place}: signal must be an AbortSignal, but got ${shown(signal)}.`);
  if (typeof maxWaitMs !== 'number' || !(maxWaitMs >= 0)) {
    throw new InvalidContextError(
      `${place}: maxWaitMs must be a number of milliseconds of at least 0, but got ${shown(maxWaitMs)}.`,
    );
  }
  return { permitCount, signal, maxWaitMs };
}

/** By what is needed of it: it may come from another realm. */
function isSignal(value: unknown): boolean {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
}
