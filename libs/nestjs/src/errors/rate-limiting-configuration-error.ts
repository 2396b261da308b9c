/** The stable codes of what {@link RateLimitingConfigurationError} reports. Each has a heading in `docs/errors.md`. */
export type RateLimitingErrorCode =
  | 'ERR_RL_UNKNOWN_OPTION'
  | 'ERR_RL_MISSING_OPTIONS'
  | 'ERR_RL_INVALID_OPTION'
  | 'ERR_RL_INVALID_POLICY'
  | 'ERR_RL_DUPLICATE_POLICY'
  | 'ERR_RL_UNKNOWN_POLICY'
  | 'ERR_RL_SCOPED_POLICY'
  | 'ERR_RL_ENABLED_INSIDE_DISABLED'
  | 'ERR_RL_INVALID_ENDPOINT'
  | 'ERR_RL_MODULE_TWICE'
  | 'ERR_RL_NOT_RESETTABLE';

/** A mistake in the set-up of the module: it stops the boot, and its message names the place and the way out. */
export class RateLimitingConfigurationError extends Error {
  /** The name of the class. */
  override readonly name = 'RateLimitingConfigurationError';
  /** Names the mistake, whatever the wording of the message. */
  readonly code: RateLimitingErrorCode;

  constructor(code: RateLimitingErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
