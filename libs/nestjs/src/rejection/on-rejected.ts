import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import type { RateLimitRejectedException } from './rate-limit-rejected.exception.js';

/**
 * Called for a refused request, before its answer; awaited. An `HttpException` that it returns or throws is the
 * answer; a status code that it sets on the response is taken over; if it has sent the response, that was the
 * answer. Any other error goes to the exception filters. The handler doesn't run in any case.
 *
 * @param rejection - what will be thrown; carries the lease, the policy's name and when to come back.
 * @param context - the request; its response can be written to.
 * @param signal - aborts when the client is gone.
 */
export type OnRejected = (
  rejection: RateLimitRejectedException,
  context: RateLimitingContext,
  signal: AbortSignal,
) => unknown;
