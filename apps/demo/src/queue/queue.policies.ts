import type { RateLimitingModuleOptions } from '@ratelease/nestjs';

export const queuePolicies = {
  reports: { algorithm: 'concurrency', permitLimit: 2, queueLimit: 1 },
} satisfies RateLimitingModuleOptions['policies'];
