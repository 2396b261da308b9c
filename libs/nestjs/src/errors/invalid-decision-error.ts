/** A `permitCount` or `maxWaitMs` that an application computed for a request is not one: a server error. */
export class InvalidDecisionError extends RangeError {
  /** The name of the class. */
  override readonly name = 'InvalidDecisionError';
  /** Names the mistake, whatever the wording of the message. */
  readonly code = 'ERR_RL_INVALID_PERMIT_COUNT';
}
