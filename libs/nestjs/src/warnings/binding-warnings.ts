import type { ApplicationConfig } from '@nestjs/core';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import { endpointName } from '../endpoints/endpoint-rule.js';
import type { PlanBook } from '../endpoints/plan-book.js';
import { RateLimitingGuard } from '../enforcement/rate-limiting.guard.js';
import { RateLimitingInterceptor } from '../enforcement/rate-limiting.interceptor.js';
import type { InjectedClass } from '../module/injected-classes.js';
import { copiesOf } from '../module/injected-classes.js';

// Nest exports no constants for where `@UseGuards()` and `@UseInterceptors()` leave them.
const GUARDS = '__guards__';
const INTERCEPTORS = '__interceptors__';

/** The endpoints whose limits nobody enforces, because the application binds guard and interceptor itself. */
export function unboundEndpoints(
  endpoints: readonly DiscoveredEndpoint[],
  plans: PlanBook,
  config: ApplicationConfig,
): string[] {
  const hasGuard = [...config.getGlobalGuards(), ...config.getGlobalRequestGuards()].some(isGuard);
  const hasInterceptor = [...config.getGlobalInterceptors(), ...config.getGlobalRequestInterceptors()].some(
    isInterceptor,
  );
  return endpoints.flatMap(({ controller, handler }) => {
    const plan = plans.planOf(controller, handler);
    if (plan === null) return [];
    const isGuarded = hasGuard || declared(GUARDS, controller, handler).some(isGuard);
    const isIntercepted = hasInterceptor || declared(INTERCEPTORS, controller, handler).some(isInterceptor);
    const needsInterceptor = (plan.interceptor ?? plan.args ?? plan.condition) !== null;
    const isMissed = (plan.guard !== null && !isGuarded) || (needsInterceptor && !isIntercepted);
    return isMissed ? [endpointName(controller, handler)] : [];
  });
}

/** The guards that run before ours, by name. */
export function guardsBefore(config: ApplicationConfig): string[] {
  const guards = config.getGlobalGuards() as readonly object[];
  const own = guards.findIndex(isGuard);
  return guards.slice(0, Math.max(0, own)).map((guard) => guard.constructor.name);
}

// oxlint-disable-next-line typescript/no-unsafe-function-type
function declared(key: string, controller: Function, handler: Function): unknown[] {
  return [controller, handler].flatMap(
    (target) => (Reflect.getMetadata(key, target) as unknown[] | undefined) ?? [],
  );
}

function isGuard(value: unknown): boolean {
  return isOf(RateLimitingGuard, value);
}

function isInterceptor(value: unknown): boolean {
  return isOf(RateLimitingInterceptor, value);
}

/** An instance, the class or a subclass of it, or Nest's record of one; of whichever copy of the package. */
function isOf(type: InjectedClass, value: unknown): boolean {
  const { metatype } = (value ?? {}) as { metatype?: unknown };
  const candidate = metatype ?? value;
  return copiesOf(type).some((copy) =>
    typeof candidate === 'function'
      ? candidate === copy || candidate.prototype instanceof copy
      : candidate instanceof copy,
  );
}
