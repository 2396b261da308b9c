import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  FixedWindowRateLimiter,
  RateLimitPartition,
} from '@ratelease/limiters';

const WINDOW_MS = 600_000;

export const contestant = {
  title: 'one limiter',
  createWindow: ({ limit }) => new FixedWindowRateLimiter({ permitLimit: limit, windowMs: WINDOW_MS }),
  createConcurrency: ({ limit }) => new ConcurrencyLimiter({ permitLimit: limit }),
  createPartitions({ limit }) {
    const options = { permitLimit: limit, windowMs: WINDOW_MS };
    return createPartitionedRateLimiter((key) =>
      RateLimitPartition.getFixedWindowLimiter(key, () => options),
    );
  },
};
