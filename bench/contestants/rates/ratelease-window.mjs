import { createPartitionedRateLimiter, RateLimitPartition } from '@ratelease/limiters';

export const contestant = {
  title: 'ratelease, window',
  create({ limit, windowMs, idleTimeoutMs }) {
    const options = () => ({ permitLimit: limit, windowMs });
    const limiter = createPartitionedRateLimiter(
      (key) => RateLimitPartition.getFixedWindowLimiter(key, options),
      { idleTimeoutMs },
    );
    return {
      decide: (key) => limiter.attemptAcquire(key).isAcquired,
      size: () => limiter.partitionCount,
    };
  },
};
