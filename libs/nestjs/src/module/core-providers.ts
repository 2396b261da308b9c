import type { Provider } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { HttpBinding } from '../binding/http-binding.js';
import type { OwnEnhancers } from '../binding/own-enhancers.js';
import { ownEnhancers } from '../binding/own-enhancers.js';
import { LastGuard } from '../enforcement/last-guard.js';
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
  ADDITIONAL_LIMITS,
  BOOT,
  BOOT_WARNINGS,
  ENFORCEMENT,
  HTTP_BINDING,
  MIDDLEWARE_PHASE,
  OWN_ENHANCERS,
  PLANS,
  POLICIES,
  SETTINGS,
  VISIBILITY,
} from './tokens.js';

/** Everything that an application's rate limiting is made of, beside the settings. */
export const CORE_PROVIDERS: readonly Provider[] = [
  AdditionalLimits,
  { provide: ADDITIONAL_LIMITS, useExisting: AdditionalLimits },
  {
    provide: POLICIES,
    inject: [SETTINGS, VISIBILITY, AdditionalLimits],
    useFactory: (settings: Settings, visibility: Visibility, limits: AdditionalLimits) =>
      new PolicyRegistry(settings, visibility.noteLetThrough.bind(visibility), limits),
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
  LastGuard,
  {
    provide: OWN_ENHANCERS,
    inject: [SETTINGS, RateLimitingGuard, RateLimitingInterceptor, LastGuard],
    useFactory: ownEnhancers,
  },
  { provide: APP_GUARD, inject: [OWN_ENHANCERS], useFactory: ({ guard }: OwnEnhancers) => guard },
  {
    provide: APP_INTERCEPTOR,
    inject: [OWN_ENHANCERS],
    useFactory: ({ interceptor }: OwnEnhancers) => interceptor,
  },
  {
    provide: HTTP_BINDING,
    inject: [ApplicationConfig, ModulesContainer, PLANS, OWN_ENHANCERS],
    useFactory: (config: ApplicationConfig, modules: ModulesContainer, plans: PlanBook, own: OwnEnhancers) =>
      new HttpBinding(config, modules, plans, own),
  },
];

/** What other modules need when they make guard or interceptor themselves, or are a copy of their own. */
export const CORE_EXPORTS = [ENFORCEMENT, ADDITIONAL_LIMITS, BOOT];
