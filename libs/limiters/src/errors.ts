/** The stable codes of every error this package throws. Each has a heading in `docs/errors.md`. */
export type RateLimitErrorCode =
  | 'ERR_RL_INVALID_OPTION'
  | 'ERR_RL_INVALID_PERMIT_COUNT'
  | 'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT'
  | 'ERR_RL_INVALID_ARGUMENT'
  | 'ERR_RL_INVALID_TIME'
  | 'ERR_RL_ASYNC_ONLY'
  | 'ERR_RL_OBJECT_DISPOSED';

const BRAND = Symbol.for('ratelease.error');

/** An error of this package: a `RangeError`, a `TypeError` or an {@link ObjectDisposedError} with a stable code. */
export interface RateLimitError extends Error {
  /** Names the mistake, whatever the wording of the message. */
  readonly code: RateLimitErrorCode;
}

/**
 * Tells whether a value is an error of this package, also one made by another loaded copy of it.
 *
 * @param value - anything, as caught.
 */
export function isRateLimitError(value: unknown): value is RateLimitError {
  return typeof value === 'object' && value !== null && BRAND in value;
}

function brand<T extends Error>(error: T, code: RateLimitErrorCode): T & RateLimitError {
  Object.defineProperty(error, BRAND, { value: true });
  Object.defineProperty(error, 'code', { value: code, enumerable: true });
  return error as T & RateLimitError;
}

/** A value of the right type outside its legal range. */
export function rangeError(code: RateLimitErrorCode, message: string): RangeError & RateLimitError {
  return brand(new RangeError(message), code);
}

/** A value of the wrong type. */
export function typeError(code: RateLimitErrorCode, message: string): TypeError & RateLimitError {
  return brand(new TypeError(message), code);
}

/** Thrown (or rejected with) when a limiter is asked for permits after its disposal. Code `ERR_RL_OBJECT_DISPOSED`. */
export class ObjectDisposedError extends Error implements RateLimitError {
  /** Always `ObjectDisposedError`. */
  override readonly name = 'ObjectDisposedError';
  declare readonly code: RateLimitErrorCode;

  /** @param what - the name of what was disposed, for the message. */
  constructor(what: string) {
    super(
      `${what} was disposed and gives no more permits. Keep it until its last user is done, or make a new one.`,
    );
    brand(this, 'ERR_RL_OBJECT_DISPOSED');
  }

  /** Recognises the errors of another loaded copy of this package as well. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isRateLimitError(value) && value.code === 'ERR_RL_OBJECT_DISPOSED';
  }
}

const SHOWN_CHARACTERS = 60;

/** A value as an error message shows it: told apart from look-alikes of other types, and never long. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value));
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`;
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value)
      ? `an array of ${value.length}`
      : `an object (${value.constructor?.name ?? 'no prototype'})`;
  }
  return Object.is(value, -0) ? '-0' : String(value);
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

/** The error for a synchronous question to a limiter that has to ask elsewhere. */
export function asyncOnly(limiter: unknown): TypeError {
  return typeError(
    'ERR_RL_ASYNC_ONLY',
    `${show(limiter)} is a limiter that can't answer at once. Use acquire() instead of attemptAcquire().`,
  );
}

/** The error for a clock that reads no time: the wrong type, no number, or one beyond all reckoning. */
export function notATime(reading: unknown): Error {
  const message = `now() of a clock must return a finite number of milliseconds, but got ${show(reading)}`;
  if (typeof reading === 'number') return rangeError('ERR_RL_INVALID_TIME', `${message}.`);
  return typeError('ERR_RL_INVALID_TIME', `${message} (${typeof reading}).`);
}

/** The error for a clock whose timers fire while they are set. */
export function calledBackAtOnce(): RangeError {
  return rangeError(
    'ERR_RL_INVALID_TIME',
    'setTimer() of a clock must return before it calls back, but it called back at once.',
  );
}

/** The error for an answer of somebody else's limiter or store that is no lease. */
export function notALease(who: string, answer: unknown): TypeError {
  return typeError('ERR_RL_INVALID_ARGUMENT', `${who} must answer with a lease, but got ${show(answer)}.`);
}

/** Does something with each of several, whatever it throws for one of them. Returns what it has thrown. */
export function errorsOfEach<T>(items: Iterable<T>, act: (item: T) => void): unknown[] {
  const errors: unknown[] = [];
  for (const item of items) {
    try {
      act(item);
    } catch (error) {
      errors.push(error);
    }
  }
  return errors;
}

/** Throws what was collected: a single error as it is, several as an `AggregateError`, none not at all. */
export function throwCollected(errors: readonly unknown[], message: string): void {
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, message);
}
