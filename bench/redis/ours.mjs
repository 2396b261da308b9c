import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import { createRedisPartitions } from '@ratelease/redis';
import { Redis } from 'ioredis';

/** The shared limiters as an application uses them. */
export async function openOurs({ port, limits, limit, windowMs }, { isBucket = false, ...options }) {
  const client = new Redis(port, '127.0.0.1');
  await client.ping();
  const shared = createRedisPartitions({ client, commandTimeoutMs: 10_000, ...options });
  // Rounds of the others lie between two of ours: what is known of a key stays, as it does where it is in use.
  const idleTimeoutMs = 3_600_000;
  const window = (factor) =>
    createPartitionedRateLimiter(
      (key) => shared.getFixedWindowLimiter(key, () => ({ permitLimit: limit, windowMs: factor * windowMs })),
      { idleTimeoutMs },
    );
  const bucket = () =>
    createPartitionedRateLimiter(
      (key) =>
        shared.getTokenBucketLimiter(key, () => ({
          tokenLimit: limit,
          tokensPerPeriod: limit,
          replenishmentPeriodMs: windowMs,
        })),
      { idleTimeoutMs },
    );
  const first = isBucket ? bucket() : window(1);
  const limiter = limits === 1 ? first : createChainedPartitionedRateLimiter(first, window(2));
  return { decide: async (key) => (await limiter.acquire(key)).isAcquired };
}
