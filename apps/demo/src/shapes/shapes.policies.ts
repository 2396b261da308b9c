import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import { byClient } from '@ratelease/nestjs';

export const shapesPolicies = {
  window: { algorithm: 'fixedWindow', permitLimit: 20, windowMs: 5_000, key: byClient() },
  bucket: {
    algorithm: 'tokenBucket',
    tokenLimit: 20,
    tokensPerPeriod: 5,
    replenishmentPeriodMs: 1_000,
    key: byClient(),
  },
  queue: { algorithm: 'concurrency', permitLimit: 4, queueLimit: 30 },
} satisfies RateLimitingModuleOptions['policies'];
