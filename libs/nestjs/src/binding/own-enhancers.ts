import type { CanActivate, NestInterceptor } from '@nestjs/common';
import type { LastGuard } from '../enforcement/last-guard.js';
import type { RateLimitingGuard } from '../enforcement/rate-limiting.guard.js';
import { RateLimitingInterceptor } from '../enforcement/rate-limiting.interceptor.js';
import type { Settings } from '../module/settings.js';

/** What stands in the application's lists of guards and interceptors for this module. */
export interface OwnEnhancers {
  readonly guard: CanActivate;
  readonly interceptor: NestInterceptor;
  /** Stands for the interceptor where that is cheaper; `null` where a test or an application has put its own there. */
  readonly lastGuard: CanActivate | null;
  /** Whether they do anything, or only stand where Nest wants something to stand. */
  readonly areBound: boolean;
}

/** Stand in the place of what the application binds itself. */
const PASSING_GUARD: CanActivate = { canActivate: () => true };
const PASSING_INTERCEPTOR: NestInterceptor = { intercept: (_execution, next) => next.handle() };

/** Chooses them by the settings. */
export function ownEnhancers(
  { bind }: Settings,
  guard: RateLimitingGuard,
  interceptor: RateLimitingInterceptor,
  last: LastGuard,
): OwnEnhancers {
  const lastGuard = interceptor.constructor === RateLimitingInterceptor ? last : null;
  if (bind) return { guard, interceptor, lastGuard, areBound: true };
  return { guard: PASSING_GUARD, interceptor: PASSING_INTERCEPTOR, lastGuard, areBound: false };
}
