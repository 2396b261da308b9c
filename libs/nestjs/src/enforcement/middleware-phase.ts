import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import type { ApplicationValue } from '../context/rate-limiting-context.js';
import { discoverEndpoints } from '../endpoints/endpoint-discovery.js';
import { ExemptRoutes } from '../endpoints/exempt-routes.js';
import type { EndpointPlan } from '../endpoints/endpoint-plan.js';
import type { PlanBook } from '../endpoints/plan-book.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { shown } from '../errors/shown.js';
import { ENFORCEMENT, PLANS } from '../module/tokens.js';
import { isFailed } from '../holding/verdict.js';
import type { Enforcement } from './enforcement.js';

/**
 * Asks the global limiter before routing, so that what no handler gets counts as well: addresses that don't exist
 * and requests that other middleware ends.
 */
@Injectable()
export class MiddlewarePhase {
  readonly #adapters: HttpAdapterHost;
  readonly #modules: ModulesContainer;
  readonly #plans: PlanBook;
  readonly #enforcement: Enforcement;
  readonly #exempt = new ExemptRoutes();

  constructor(
    adapters: HttpAdapterHost,
    modules: ModulesContainer,
    @Inject(PLANS) plans: PlanBook,
    @Inject(ENFORCEMENT) enforcement: Enforcement,
  ) {
    this.#adapters = adapters;
    this.#modules = modules;
    this.#plans = plans;
    this.#enforcement = enforcement;
  }

  /**
   * Takes its place before the application's routes. To be called when plans are made and before the router is.
   *
   * @throws RateLimitingConfigurationError `ERR_RL_INVALID_OPTION` - on another platform than Express and Fastify.
   */
  install(): void {
    const plan = this.#plans.planBeforeRouting;
    if (plan === null) return;
    for (const { controller, handler } of discoverEndpoints(this.#modules)) {
      if ((this.#plans.planOf(controller, handler)?.middleware ?? null) === null) this.#exempt.mark(handler);
    }
    const adapter = this.#adapters.httpAdapter;
    const platform = adapter.getType();
    const application: ApplicationValue = adapter.getInstance();
    if (platform === 'express') {
      adapter.use((request: object, response: object, next: Next) => {
        if (this.#exempt.hasExpress(request, application)) next();
        else this.#pass({ request, response, plan }, next);
      });
    } else if (platform === 'fastify') {
      // Nest's own middleware on Fastify sees neither Fastify's request nor its reply, but this hook does.
      (application as FastifyInstance).addHook(
        'onRequest',
        (request: object, response: object, next: Next) => {
          if (this.#exempt.hasFastify(request)) next();
          else this.#pass({ request, response, plan }, next);
        },
      );
    } else {
      throw new RateLimitingConfigurationError(
        'ERR_RL_INVALID_OPTION',
        `RateLimitingModule: globalPhase 'middleware' needs Express or Fastify, but the platform is ${shown(platform)}. ` +
          "Use 'guard' there.",
      );
    }
  }

  #pass({ request, response, plan }: Arrival, next: Next): void {
    const holder = this.#enforcement.holderBeforeRouting(request, response, plan);
    const verdict = this.#enforcement.judge('middleware', holder);
    if (isFailed(verdict)) next(verdict.error);
    else if (verdict === true) next();
    else if (verdict !== false) verdict.then((goesOn) => (goesOn ? next() : undefined), next);
  }
}

interface FastifyInstance {
  addHook(name: 'onRequest', hook: (request: object, response: object, next: Next) => void): void;
}

type Next = (error?: unknown) => void;

interface Arrival {
  readonly request: object;
  readonly response: object;
  readonly plan: EndpointPlan;
}
