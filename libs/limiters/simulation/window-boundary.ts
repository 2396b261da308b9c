import { FixedWindowRateLimiter } from '../src/index.js';
import type { Clock } from '../src/index.js';

/** Ten thousand, all for the same boundary of a window. */
export const BOUNDARY_WAITERS = 10_000;
export const BOUNDARY_WINDOW_MS = 2_000;

/** Fills a window and its queue. Returns who has been served, in that order, as it grows. */
export function crowdAtBoundary(clock?: Clock): number[] {
  const limiter = new FixedWindowRateLimiter({
    permitLimit: BOUNDARY_WAITERS,
    windowMs: BOUNDARY_WINDOW_MS,
    queueLimit: BOUNDARY_WAITERS,
    ...(clock === undefined ? {} : { clock }),
  });
  limiter.attemptAcquire(BOUNDARY_WAITERS);
  const served: number[] = [];
  for (let waiter = 0; waiter < BOUNDARY_WAITERS; waiter++) {
    void limiter.acquire().then((lease) => {
      if (lease.isAcquired) served.push(waiter);
      lease.dispose();
    });
  }
  return served;
}
