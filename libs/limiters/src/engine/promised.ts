import { notALease } from '../errors.js';
import { RateLimitLease } from '../rate-limit-lease.js';

/**
 * What a core has answered, as the promise that `acquire` always returns: one that was written without types may have
 * returned the lease itself, or forgotten to return anything.
 */
export function promised(answer: Promise<RateLimitLease>, limiter: object): Promise<RateLimitLease> {
  return answer instanceof Promise ? answer : promiseOf(answer, limiter);
}

// Apart from the check, which stands in the way of every decision: only short functions are inlined there.
function promiseOf(answer: unknown, limiter: object): Promise<RateLimitLease> {
  const isThenable = typeof (answer as PromiseLike<RateLimitLease> | null | undefined)?.then === 'function';
  if (isThenable || answer instanceof RateLimitLease) return Promise.resolve(answer as RateLimitLease);
  return Promise.reject(notALease(`acquireCore of ${limiter.constructor.name}`, answer));
}
