export type { RedisClient } from './clients/connection-of.js';
export { LEASE_LOST_CHANNEL, LeaseLostError } from './concurrency/lease-lost-error.js';
export { createRedisPartitions, RedisPartitions } from './create-redis-partitions.js';
export { RemoteLease } from './leases/remote-lease.js';
export type { WhenUnavailable } from './remote/limiter-definition.js';
export type {
  RedisConcurrencyLimiterOptions,
  RedisFixedWindowLimiterOptions,
  RedisSlidingWindowLimiterOptions,
  RedisTokenBucketLimiterOptions,
  SharedLimiterOptions,
  SharedRateLimiterOptions,
} from './remote/limiter-options.js';
export { RemoteRateLimiter } from './remote/remote-rate-limiter.js';
export type { RedisPartitionsOptions } from './redis-partitions-options.js';
export type { StoreEvent } from './store/health.js';
export { STORE_CHANNEL } from './store/health.js';
export { STORE_UNAVAILABLE } from './store-unavailable.js';
