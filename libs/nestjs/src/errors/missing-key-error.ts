/**
 * A request has no usable key, so that nobody could tell whom to limit. It is a server error and never a grant:
 * strangers must not share one counter by accident.
 */
export class MissingKeyError extends TypeError {
  override readonly name = 'MissingKeyError';
  readonly code = 'ERR_RL_MISSING_KEY';
}
