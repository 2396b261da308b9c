/**
 * Whether what the application's code threw is a failure, and not an answer: exceptions of Nest, for HTTP and for the
 * other transports, are told by their methods, because the application's copy of Nest may be another one than ours.
 */
function isFailure(error: unknown): boolean {
  const exception = error as { getStatus?: unknown; getError?: unknown } | null | undefined;
  return typeof exception?.getStatus !== 'function' && typeof exception?.getError !== 'function';
}

/** Whether an error is one that requests may be let through after: no answer of the application, and not their end. */
export function isLettable(error: unknown, { abortReason }: { readonly abortReason: unknown }): boolean {
  return isFailure(error) && abortReason === undefined;
}
