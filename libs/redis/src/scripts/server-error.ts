/** An error that the server answered with: it begins with a word in capitals. */
export function isServerError(error: unknown): boolean {
  return codeOfServerError(error) !== undefined;
}

/** That word, which tells what is the matter; `undefined` for an error of the client. */
export function codeOfServerError(error: unknown): string | undefined {
  return error instanceof Error ? /^([A-Z]{2,}) /.exec(error.message)?.[1] : undefined;
}
