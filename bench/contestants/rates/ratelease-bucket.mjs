import { createPartitionedRateLimiter, RateLimitPartition } from '@ratelease/limiters';

export const contestant = {
  title: 'ratelease, bucket',
  create({ limit, windowMs, idleTimeoutMs }) {
    const options = () => ({ tokenLimit: limit, tokensPerPeriod: limit, replenishmentPeriodMs: windowMs });
    const limiter = createPartitionedRateLimiter(
      (key) => RateLimitPartition.getTokenBucketLimiter(key, options),
      { idleTimeoutMs },
    );
    return {
      decide: (key) => limiter.attemptAcquire(key).isAcquired,
      size: () => limiter.partitionCount,
    };
  },
};
