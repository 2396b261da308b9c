/** The stable codes of what {@link ActiveSessionError} reports. Each has a heading in `docs/errors.md`. */
export type ActiveSessionErrorCode =
  'ERR_RL_INVALID_OPTION' | 'ERR_RL_SESSION_ENDED' | 'ERR_RL_SESSION_EXISTS';

/** An error of this package. Its message names what it is about and the way out. */
export class ActiveSessionError extends Error {
  /** The name of the class. */
  override readonly name = 'ActiveSessionError';
  /** Names the mistake, whatever the wording of the message. */
  readonly code: ActiveSessionErrorCode;

  constructor(code: ActiveSessionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Why a session has ended: somebody ended it, nobody used it, it was too old, it got no permit, the request that
 * opened it failed, its group or the application ended.
 */
export type SessionEndReason =
  'terminated' | 'idle' | 'expired' | 'refused' | 'failed' | 'group' | 'shutdown';

/** The reason of the end signals of sessions and groups. */
export class SessionEndedError extends ActiveSessionError {
  /** Why it has ended. */
  readonly reason: SessionEndReason;

  /** @param what - the session or the group, as messages call it. */
  constructor(what: string, reason: SessionEndReason) {
    super('ERR_RL_SESSION_ENDED', `${what} has ended: ${reason}. Open a new one.`);
    this.reason = reason;
  }
}
