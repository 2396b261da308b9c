import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import { discoverEndpoints } from '../endpoints/endpoint-discovery.js';
import type { EndpointPlan } from '../endpoints/endpoint-plan.js';
import type { PlanBook } from '../endpoints/plan-book.js';
import { AppWideList } from './app-wide-list.js';
import { canReplaceOn, copyOfMethod, replaceMethod } from './method-replacement.js';
import type { OwnEnhancers } from './own-enhancers.js';

// Nest exports no names for where it leaves these.
const ROUTE = 'path';
const GUARDS = '__guards__';
const INTERCEPTORS = '__interceptors__';

/** A route with a limit, on a controller that lives as long as the application. */
interface Route {
  readonly endpoint: DiscoveredEndpoint;
  readonly instance: object;
  readonly plan: EndpointPlan;
}

/**
 * Binds guard and interceptor to the routes that have a limit, and to no other one: an interceptor that runs
 * everywhere costs every request several microseconds, even if it does nothing. Where that would change the order
 * (something of the application's runs after ours), or a controller has frozen itself, they stay where they are, app-wide.
 */
export class HttpBinding {
  readonly #modules: ModulesContainer;
  readonly #plans: PlanBook;
  readonly #own: OwnEnhancers;
  readonly #guards: AppWideList;
  readonly #interceptors: AppWideList;

  constructor(config: ApplicationConfig, modules: ModulesContainer, plans: PlanBook, own: OwnEnhancers) {
    this.#modules = modules;
    this.#plans = plans;
    this.#own = own;
    this.#guards = new AppWideList(config.getGlobalGuards(), config.getGlobalRequestGuards(), own.guard);
    this.#interceptors = new AppWideList(
      config.getGlobalInterceptors(),
      config.getGlobalRequestInterceptors(),
      own.interceptor,
    );
  }

  /** Binds the routes. To be called when plans are made and the router is not. */
  bind(): void {
    // An application may have put others in their place, as tests do.
    if (!this.#guards.isThere || !this.#interceptors.isThere) return;
    const routes = this.#own.areBound ? this.#routes() : [];
    const keepsGuard = routes.some(
      (route) => needsGuard(route) && (isFixed(route) || this.#isGuardBefore(route)),
    );
    const keepsInterceptor = routes.some(
      (route) => this.#needsInterceptor(route) && (isFixed(route) || this.#isInterceptorBefore(route)),
    );
    for (const route of routes) this.#bindRoute(route, keepsGuard, keepsInterceptor);
    if (!keepsGuard) this.#guards.takeOut();
    if (!keepsInterceptor) this.#interceptors.takeOut();
  }

  /**
   * Undoes what concerns the whole application. To be called when the router is made: what else has handlers
   * (GraphQL, microservices, controllers that are made per request) is built later.
   */
  putBack(): void {
    this.#guards.putBack();
    this.#interceptors.putBack();
  }

  #routes(): Route[] {
    return discoverEndpoints(this.#modules).flatMap((endpoint) => {
      const { controller, handler, instance } = endpoint;
      const plan = Reflect.hasMetadata(ROUTE, handler) ? this.#plans.planOf(controller, handler) : null;
      return plan === null || instance === undefined ? [] : [{ endpoint, instance, plan }];
    });
  }

  #bindRoute({ endpoint, instance, plan }: Route, keepsGuard: boolean, keepsInterceptor: boolean): void {
    const { controller, methodName } = endpoint;
    const route = { endpoint, instance, plan };
    const first = !keepsGuard && needsGuard(route) ? [this.#own.guard] : [];
    const last = this.#canGuard(route) && plan.interceptor !== null ? [this.#own.lastGuard!] : [];
    const outer = !keepsInterceptor && this.#needsInterceptor(route) ? [this.#own.interceptor] : [];
    if (first.length + last.length + outer.length === 0) return;
    const replacement = copyOfMethod(instance, methodName);
    replaceMethod(instance, methodName, replacement);
    Reflect.defineMetadata(GUARDS, [...first, ...declared(GUARDS, replacement), ...last], replacement);
    Reflect.defineMetadata(INTERCEPTORS, [...outer, ...declared(INTERCEPTORS, replacement)], replacement);
    this.#plans.alias(controller, replacement, plan);
  }

  /** Whether the last guard can stand for the interceptor: nothing is held, and nothing runs in between. */
  #canGuard(route: Route): boolean {
    if (this.#own.lastGuard === null) return false;
    return !route.plan.isFollowed && !this.#interceptors.hasEarlier && !isFixed(route);
  }

  #needsInterceptor(route: Route): boolean {
    const { interceptor, args, condition, isFollowed } = route.plan;
    if (isFollowed || args !== null || condition !== null) return true;
    return interceptor !== null && !this.#canGuard(route);
  }

  /** Whether guards of the application's run after ours, but before those of the method. */
  #isGuardBefore({ endpoint }: Route): boolean {
    return this.#guards.hasLater || declared(GUARDS, endpoint.controller).length > 0;
  }

  #isInterceptorBefore({ endpoint }: Route): boolean {
    return this.#interceptors.hasLater || declared(INTERCEPTORS, endpoint.controller).length > 0;
  }
}

/** Whether nothing can be bound to the route's own method. */
function isFixed({ instance }: Route): boolean {
  return !canReplaceOn(instance);
}

/** In the middleware phase, what came by another way is made up for by the guard. */
function needsGuard({ plan }: Route): boolean {
  return (plan.guard ?? plan.middleware) !== null;
}

function declared(key: string, target: object): readonly unknown[] {
  return (Reflect.getMetadata(key, target) as readonly unknown[] | undefined) ?? [];
}
