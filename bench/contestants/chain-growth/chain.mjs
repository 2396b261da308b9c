import { createChainedRateLimiter } from '@ratelease/limiters';

/** As many limiters as are asked for: one by itself, several as a chain. */
export function chainOf(length, make) {
  return length === 1 ? make() : createChainedRateLimiter(...Array.from({ length }, make));
}
