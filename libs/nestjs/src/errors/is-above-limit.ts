/** Whether a limiter could never grant what it was asked for: an error there, and a refusal where a request asks. */
export function isAboveLimit(error: unknown): error is Error {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_RL_PERMIT_COUNT_ABOVE_LIMIT';
}
