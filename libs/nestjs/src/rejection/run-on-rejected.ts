import type { HandlingContext } from '../context/handling-context.js';
import { rawResponse } from '../http/raw-http.js';
import type { OnRejected } from './on-rejected.js';
import type { RateLimitRejectedException } from './rate-limit-rejected.exception.js';

/**
 * Lets the application have its say on a refusal.
 *
 * @returns whether there is still an answer to give: `false` when the callback has sent the response.
 * @throws what the callback throws, or the `HttpException` that it returns.
 */
export async function runOnRejected(
  callback: OnRejected,
  rejection: RateLimitRejectedException,
  context: HandlingContext,
): Promise<boolean> {
  const status = new ResponseStatus(context);
  status.write(rejection.getStatus());
  const answer: unknown = await callback(rejection, context, context.signal);
  if (isHttpException(answer)) throw answer;
  if (hasBegunToAnswer(context)) return false;
  rejection.answerWith(status.read() ?? rejection.getStatus());
  return true;
}

/** The status that stands on the response. It is written before the callback, so that one set by it shows. */
class ResponseStatus {
  readonly #response: { statusCode?: number } | undefined;

  constructor(context: HandlingContext) {
    this.#response = context.type === 'http' ? (context.response as { statusCode?: number }) : undefined;
  }

  write(status: number): void {
    if (this.#response !== undefined) this.#response.statusCode = status;
  }

  read(): number | undefined {
    return this.#response?.statusCode;
  }
}

/** Whether the callback sends the response itself. */
export function hasBegunToAnswer(context: HandlingContext): boolean {
  if (context.type !== 'http') return false;
  const raw = rawResponse(context.response);
  return raw.headersSent || raw.writableEnded || (context.response as { sent?: boolean }).sent === true;
}

/** By its methods: the application's `@nestjs/common` may be another copy than ours. */
function isHttpException(value: unknown): value is Error {
  const exception = value as { getStatus?: unknown; getResponse?: unknown } | null | undefined;
  return typeof exception?.getStatus === 'function' && typeof exception.getResponse === 'function';
}
