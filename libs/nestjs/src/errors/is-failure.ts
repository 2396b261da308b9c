/**
 * Whether what the application's code threw is a failure, and not an answer: exceptions of Nest, for HTTP and for the
 * other transports, are told by their methods, because the application's copy of Nest may be another one than ours.
 */
export function isFailure(error: unknown): boolean {
  const exception = error as { getStatus?: unknown; getError?: unknown } | null | undefined;
  return typeof exception?.getStatus !== 'function' && typeof exception?.getError !== 'function';
}
