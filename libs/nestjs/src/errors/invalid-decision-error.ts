/** A `permitCount` or `maxWaitMs` that an application computed for a request is not one: a server error. */
export class InvalidDecisionError extends RangeError {
  override readonly name = 'InvalidDecisionError';
  readonly code = 'ERR_RL_INVALID_PERMIT_COUNT';
}
