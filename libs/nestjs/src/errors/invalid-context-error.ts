/** A method for code outside handlers got something else than a context of the module, or than what belongs beside one. */
export class InvalidContextError extends TypeError {
  /** The name of the class. */
  override readonly name = 'InvalidContextError';
  /** Names the mistake, whatever the wording of the message. */
  readonly code = 'ERR_RL_INVALID_ARGUMENT';
}
