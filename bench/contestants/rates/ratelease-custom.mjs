import {
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
} from '@ratelease/limiters';

/** Partitions with a limiter of the user's own making: an object for each key can't be avoided. */
export const contestant = {
  title: 'ratelease, own factory',
  create({ limit, windowMs, idleTimeoutMs }) {
    const make = () => new FixedWindowRateLimiter({ permitLimit: limit, windowMs });
    const limiter = createPartitionedRateLimiter((key) => RateLimitPartition.get(key, make), {
      idleTimeoutMs,
    });
    return {
      decide: (key) => limiter.attemptAcquire(key).isAcquired,
      size: () => limiter.partitionCount,
    };
  },
};
