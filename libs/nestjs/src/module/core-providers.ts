import type { CanActivate, NestInterceptor, Provider } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { Enforcement } from '../enforcement/enforcement.js';
import { MiddlewarePhase } from '../enforcement/middleware-phase.js';
import { RateLimitingGuard } from '../enforcement/rate-limiting.guard.js';
import { RateLimitingInterceptor } from '../enforcement/rate-limiting.interceptor.js';
import { PlanBook } from '../endpoints/plan-book.js';
import { AdditionalLimits } from '../policies/additional-limits.js';
import { PolicyRegistry } from '../policies/policy-registry.js';
import { RateLimitingService } from '../service/rate-limiting.service.js';
import { Visibility } from '../visibility/visibility.js';
import { BootWarnings } from '../warnings/boot-warnings.js';
import { Boot } from './boot.js';
import type { Settings } from './settings.js';
import {
  BOOT,
  BOOT_WARNINGS,
  ENFORCEMENT,
  MIDDLEWARE_PHASE,
  PLANS,
  POLICIES,
  SETTINGS,
  VISIBILITY,
} from './tokens.js';

/** Stand in the place of what the application binds itself: Nest wants a guard and an interceptor there. */
const PASSING_GUARD: CanActivate = { canActivate: () => true };
const PASSING_INTERCEPTOR: NestInterceptor = { intercept: (_execution, next) => next.handle() };

/** Everything that an application's rate limiting is made of, beside the settings. */
export const CORE_PROVIDERS: readonly Provider[] = [
  AdditionalLimits,
  {
    provide: POLICIES,
    inject: [SETTINGS, AdditionalLimits],
    useFactory: (settings: Settings, limits: AdditionalLimits) => new PolicyRegistry(settings, limits),
  },
  {
    provide: PLANS,
    inject: [SETTINGS, POLICIES],
    useFactory: (settings: Settings, policies: PolicyRegistry) => new PlanBook(settings, policies),
  },
  { provide: VISIBILITY, useClass: Visibility },
  { provide: ENFORCEMENT, useClass: Enforcement },
  { provide: BOOT, useClass: Boot },
  { provide: BOOT_WARNINGS, useClass: BootWarnings },
  { provide: MIDDLEWARE_PHASE, useClass: MiddlewarePhase },
  RateLimitingService,
  RateLimitingGuard,
  RateLimitingInterceptor,
  {
    provide: APP_GUARD,
    inject: [SETTINGS, RateLimitingGuard],
    useFactory: (settings: Settings, guard: CanActivate) => (settings.bind ? guard : PASSING_GUARD),
  },
  {
    provide: APP_INTERCEPTOR,
    inject: [SETTINGS, RateLimitingInterceptor],
    useFactory: (settings: Settings, interceptor: NestInterceptor) =>
      settings.bind ? interceptor : PASSING_INTERCEPTOR,
  },
];

/** What other modules may inject: the service, the guard and the interceptor, and what they need when made elsewhere. */
export const CORE_EXPORTS = [
  ENFORCEMENT,
  AdditionalLimits,
  RateLimitingService,
  RateLimitingGuard,
  RateLimitingInterceptor,
];
