/**
 * A request has no usable key, so that nobody could tell whom to limit. It is a server error and never a grant:
 * strangers must not share one counter by accident.
 */
export class MissingKeyError extends TypeError {
  /** The name of the class. */
  override readonly name = 'MissingKeyError';
  /** Names the mistake, whatever the wording of the message. */
  readonly code = 'ERR_RL_MISSING_KEY';
}
