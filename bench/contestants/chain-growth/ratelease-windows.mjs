import { FixedWindowRateLimiter } from '@ratelease/limiters';
import { chainOf } from './chain.mjs';

export const contestant = {
  title: 'ratelease, windows granted',
  create(length) {
    const limiter = chainOf(
      length,
      () => new FixedWindowRateLimiter({ permitLimit: 1_000_000_000, windowMs: 600_000 }),
    );
    return { decide: () => limiter.attemptAcquire().isAcquired };
  },
};
