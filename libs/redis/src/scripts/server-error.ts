/** An error that the server answered with: it begins with a word in capitals. */
export function isServerError(error: unknown): boolean {
  return error instanceof Error && /^[A-Z]{2,} /.test(error.message);
}
