import type { RateLimitingModuleOptions } from '@ratelease/nestjs';

export const disabledPolicies = {
  seldom: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 10_000 },
} satisfies RateLimitingModuleOptions['policies'];
