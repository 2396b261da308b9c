/** The stable codes of what {@link SimulationError} reports. Each has a heading in `docs/errors.md`. */
export type SimulationErrorCode =
  | 'ERR_RL_INVALID_OPTION'
  | 'ERR_RL_UNKNOWN_OPTION'
  | 'ERR_RL_INVALID_NOTATION'
  | 'ERR_RL_INVALID_TRACE'
  | 'ERR_RL_MISSING_DURATION';

/** By this mark `isRateLimitError` knows the errors of all packages. */
const BRAND = Symbol.for('ratelease.error');

/** A mistake in what a simulation was given; its message names the place and the way out. */
export class SimulationError extends TypeError {
  /** The name of the class. */
  override readonly name = 'SimulationError';
  /** Names the mistake, whatever the wording of the message. */
  readonly code: SimulationErrorCode;

  constructor(code: SimulationErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }
}
