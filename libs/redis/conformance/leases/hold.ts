import type { AsyncRateLimiter, RateLimitLease } from '@ratelease/limiters';

/** So many leases, each of one permit. */
export function hold(limiter: AsyncRateLimiter, count: number): Promise<RateLimitLease[]> {
  return Promise.all(Array.from({ length: count }, () => limiter.acquire()));
}
