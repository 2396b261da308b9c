import type { WaitBounds } from '../policies/policy-set.js';

/**
 * Why a wait has failed. Where it was aborted, that is why: a limiter of the application's may well throw an error of its
 * own then, as Node's functions do that take a signal, and nobody could tell that from a fault.
 */
export function causeOf(bounds: Pick<WaitBounds, 'signal'> | undefined, error: unknown): unknown {
  return bounds?.signal?.aborted === true ? bounds.signal.reason : error;
}
