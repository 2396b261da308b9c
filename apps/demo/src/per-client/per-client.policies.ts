import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import { byClient } from '@ratelease/nestjs';

export const perClientPolicies = {
  perClient: {
    algorithm: 'slidingWindow',
    permitLimit: 5,
    windowMs: 10_000,
    segmentsPerWindow: 10,
    key: byClient(),
  },
} satisfies RateLimitingModuleOptions['policies'];
