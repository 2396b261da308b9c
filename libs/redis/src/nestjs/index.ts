export { RedisRateLimitingModule } from './redis-rate-limiting.module.js';
export type { RedisRateLimitingAsyncOptions } from './redis-rate-limiting-options.js';
