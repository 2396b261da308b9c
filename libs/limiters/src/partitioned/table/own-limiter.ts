import type { AsyncRateLimiter } from '../../async-rate-limiter.js';
import { show, typeError } from '../../errors.js';
import type { PartitionContext } from '../rate-limit-partition.js';
import type { Declared } from './partition-page.js';

/**
 * The limiter that a partition's factory makes.
 * @throws TypeError `ERR_RL_INVALID_ARGUMENT` - where it is none.
 */
export function makeLimiter(declared: Declared, context: PartitionContext): AsyncRateLimiter {
  const limiter = declared.factory(declared.partitionKey, context);
  if (typeof limiter?.acquire === 'function') return limiter;
  throw typeError(
    'ERR_RL_INVALID_ARGUMENT',
    `The factory of a partition must return a limiter, but for the key ${show(declared.partitionKey)} it returned ${show(limiter)}.`,
  );
}

/** Ends a limiter that a factory has made, and tells what goes wrong, now or later. */
export function endLimiter(limiter: AsyncRateLimiter, onError: (error: unknown) => void): void {
  try {
    const ended = limiter.dispose();
    if (ended instanceof Promise) ended.catch(onError);
  } catch (error) {
    onError(error);
  }
}
