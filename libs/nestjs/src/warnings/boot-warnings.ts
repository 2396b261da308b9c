import { Inject, Injectable } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import cluster from 'node:cluster';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import { discoverEndpoints } from '../endpoints/endpoint-discovery.js';
import type { PlanBook } from '../endpoints/plan-book.js';
import type { Settings } from '../module/settings.js';
import { PLANS, SETTINGS } from '../module/tokens.js';
import { guardsBefore, unboundEndpoints } from './binding-warnings.js';
import { clusterProblem } from './cluster-warning.js';
import { namesOf } from './endpoint-names.js';
import { trustProblem } from './proxy-warnings.js';
import { uncalledMethods } from './uncalled-methods.js';
import { Warnings } from './warnings.js';

/** More bits than a customer's network has. */
const NETWORK_BITS = 64;

/** Says at the boot what looks right and doesn't do what it seems to, each once, with the way out. */
@Injectable()
export class BootWarnings {
  readonly #adapters: HttpAdapterHost;
  readonly #modules: ModulesContainer;
  readonly #settings: Settings;
  readonly #plans: PlanBook;
  readonly #warnings = new Warnings();

  constructor(
    adapters: HttpAdapterHost,
    modules: ModulesContainer,
    @Inject(SETTINGS) settings: Settings,
    @Inject(PLANS) plans: PlanBook,
  ) {
    this.#adapters = adapters;
    this.#modules = modules;
    this.#settings = settings;
    this.#plans = plans;
  }

  /** To be called when the plans are made and the application has bound what it binds. */
  give(): void {
    for (const problem of this.#problems()) if (problem !== undefined) this.#warnings.once(problem);
  }

  #problems(): (string | undefined)[] {
    const { all } = this.#plans.policies;
    if (all.length === 0) return [];
    // Connections are limited by what we bind ourselves, and no guard runs before.
    const endpoints = discoverEndpoints(this.#modules).filter(({ isConnection }) => !isConnection);
    return [
      this.#trustProblem(),
      this.#prefixProblem(),
      ...this.#bindingProblems(endpoints),
      uncalledProblem(endpoints),
      all.some(({ isInProcess }) => isInProcess)
        ? clusterProblem({ isWorker: cluster.isWorker, env: process.env })
        : undefined,
    ];
  }

  #trustProblem(): string | undefined {
    // An application without a server has an empty host, or one whose adapter is of no known type.
    const adapter = this.#adapters.httpAdapter as HttpAdapterHost['httpAdapter'] | undefined;
    return adapter == null ? undefined : trustProblem(adapter.getType(), adapter.getInstance());
  }

  #prefixProblem(): string | undefined {
    const { ipv6SubnetPrefix } = this.#settings;
    if (ipv6SubnetPrefix <= NETWORK_BITS) return undefined;
    return (
      `ipv6SubnetPrefix is ${ipv6SubnetPrefix}, but a customer usually has a whole /64 and can change address at will: each ` +
      'is a client of its own then. Use 64 or less.'
    );
  }

  #bindingProblems(endpoints: readonly DiscoveredEndpoint[]): string[] {
    const config = this.#config();
    if (!this.#settings.bind) {
      const missed = unboundEndpoints(endpoints, this.#plans, config);
      if (missed.length === 0) return [];
      return [
        `Nobody enforces the limits of ${namesOf(missed)}: bind is false, and neither the ` +
          'application nor they bind what asks there. Bind RateLimitingGuard and RateLimitingInterceptor, or leave bind out.',
      ];
    }
    const hasGuardPhase = endpoints.some(({ controller, handler }) => {
      const plan = this.#plans.planOf(controller, handler);
      return plan !== null && plan.guard !== null;
    });
    const earlier = hasGuardPhase ? guardsBefore(config) : [];
    if (earlier.length === 0) return [];
    return [
      `Limits in the phase 'guard' are asked after ${earlier.join(', ')}: what these refuse doesn't count. List ` +
        '{ provide: APP_GUARD, useClass: RateLimitingGuard } first in the root module.',
    ];
  }

  #config(): ApplicationConfig {
    const [first] = this.#modules.values();
    return first!.getProviderByKey<ApplicationConfig>(ApplicationConfig).instance;
  }
}

function uncalledProblem(endpoints: readonly DiscoveredEndpoint[]): string | undefined {
  const uncalled = uncalledMethods(endpoints);
  if (uncalled.length === 0) return undefined;
  return (
    `Nothing limits ${namesOf(uncalled)}: it is no handler of requests or messages, and what calls it passes no guard. ` +
    'Jobs, listeners and command handlers take their permits by RateLimitingService.'
  );
}
