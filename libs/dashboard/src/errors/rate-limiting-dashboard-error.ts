/** The stable codes of what {@link RateLimitingDashboardError} reports. Each has a heading in `docs/errors.md`. */
export type RateLimitingDashboardErrorCode =
  'ERR_RL_DASHBOARD_UNGUARDED' | 'ERR_RL_INVALID_OPTION' | 'ERR_RL_UNKNOWN_OPTION' | 'ERR_RL_MODULE_MISSING';

/** A mistake in the set-up of the dashboard: its message names the option and the way out. */
export class RateLimitingDashboardError extends Error {
  /** The name of the class. */
  override readonly name = 'RateLimitingDashboardError';
  /** Names the mistake, whatever the wording of the message. */
  readonly code: RateLimitingDashboardErrorCode;

  constructor(code: RateLimitingDashboardErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
