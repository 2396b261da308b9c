import { FixedWindowRateLimiter } from '@ratelease/limiters';

export const contestant = {
  title: 'ratelease, window',
  create({ limit, windowMs }) {
    const limiter = new FixedWindowRateLimiter({ permitLimit: limit, windowMs });
    return { decide: () => limiter.attemptAcquire().isAcquired };
  },
};
