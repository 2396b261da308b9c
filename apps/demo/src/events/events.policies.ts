import type { RateLimitingModuleOptions } from '@ratelease/nestjs';

export const eventsPolicies = {
  listeners: { algorithm: 'concurrency', permitLimit: 2 },
} satisfies RateLimitingModuleOptions['policies'];
