import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import { PlanPolicy } from './plan.policy.js';

export const plansPolicies = { plan: PlanPolicy } satisfies RateLimitingModuleOptions['policies'];
