import { TokenBucketRateLimiter } from '@ratelease/limiters';

export const contestant = {
  title: 'ratelease, bucket',
  create({ limit, windowMs }) {
    const limiter = new TokenBucketRateLimiter({
      tokenLimit: limit,
      tokensPerPeriod: limit,
      replenishmentPeriodMs: windowMs,
    });
    return { decide: () => limiter.attemptAcquire().isAcquired };
  },
};
