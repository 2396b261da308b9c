import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import { byClient } from '@ratelease/nestjs';

export const twoPoliciesPolicies = {
  burst: { algorithm: 'fixedWindow', permitLimit: 3, windowMs: 2_000, key: byClient() },
  sustained: { algorithm: 'fixedWindow', permitLimit: 6, windowMs: 30_000, key: byClient() },
} satisfies RateLimitingModuleOptions['policies'];
