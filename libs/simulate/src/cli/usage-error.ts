/** The command line can't be understood; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
