import { Inject, Injectable } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { gateHandlers } from '../binding/handler-gates.js';
import { idleProblem } from '../conditional/idle-limit.js';
import { pipeProblem } from '../conditional/pipe-check.js';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import { discoverEndpoints } from '../endpoints/endpoint-discovery.js';
import { checkBindings } from '../endpoints/binding-check.js';
import type { EndpointPlan } from '../endpoints/endpoint-plan.js';
import type { PlanBook } from '../endpoints/plan-book.js';
import type { Enforcement } from '../enforcement/enforcement.js';
import { followWork, limitAfterPipes } from '../enforcement/handler-wrapper.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import type { NestModuleRecord } from '../policies/policy-instances.js';
import { PolicyInstances } from '../policies/policy-instances.js';
import type { FeaturePolicies } from './feature-policies.js';
import { findFeatures } from './feature-policies.js';
import { ConnectionLimits } from '../transports/connection-limits.js';
import { limitsConnections } from '../transports/socket-connection.js';
import type { Settings } from './settings.js';
import { Warnings } from '../warnings/warnings.js';
import { ENFORCEMENT, PLANS, SETTINGS } from './tokens.js';

/**
 * Compiles the policies and the plan of every endpoint before the first request, so that mistakes stop the
 * boot. It runs when all instances exist and the router is not built yet, or, without a router, at the init hook.
 */
@Injectable()
export class Boot {
  readonly #modules: ModulesContainer;
  readonly #settings: Settings;
  readonly #plans: PlanBook;
  readonly #enforcement: Enforcement;
  readonly #instances: PolicyInstances;
  readonly #features = new Set<FeaturePolicies>();
  readonly #warnings = new Warnings();
  readonly #connections: ConnectionLimits;
  #done: Promise<void> | undefined = undefined;

  constructor(
    modules: ModulesContainer,
    @Inject(SETTINGS) settings: Settings,
    @Inject(PLANS) plans: PlanBook,
    @Inject(ENFORCEMENT) enforcement: Enforcement,
  ) {
    this.#modules = modules;
    this.#settings = settings;
    this.#plans = plans;
    this.#enforcement = enforcement;
    this.#connections = new ConnectionLimits(enforcement);
    this.#instances = new PolicyInstances(modules);
    gateHandlers(modules, settings.endpoints);
  }

  run(): Promise<void> {
    return (this.#done ??= this.#run());
  }

  /** Takes the policies of modules that are loaded when the boot has begun: by `LazyModuleLoader`, or late in it. */
  async addLateFeatures(): Promise<void> {
    if (this.#done === undefined) return;
    await this.#done;
    await this.#addFeatures();
    this.#plans.policies.tellStores();
  }

  async dispose(): Promise<void> {
    await this.#plans.policies.dispose();
    await this.#instances.dispose();
  }

  async #run(): Promise<void> {
    const own = this.#ownModule();
    await this.#plans.policies.compileNamed((type) => this.#instances.provide(type, own));
    await this.#addFeatures();
    gateHandlers(this.#modules, this.#settings.endpoints);
    const endpoints = discoverEndpoints(this.#modules);
    checkBindings(this.#settings.endpoints, endpoints);
    for (const endpoint of endpoints) await this.#compile(endpoint);
    this.#plans.policies.tellStores();
  }

  async #addFeatures(): Promise<void> {
    for (const { policies, host } of findFeatures(this.#modules)) {
      if (this.#features.has(policies)) continue;
      this.#features.add(policies);
      try {
        await this.#plans.policies.addNamed(policies, (type) => this.#instances.provide(type, host));
      } catch (error) {
        // Who loads the module again is told again.
        this.#features.delete(policies);
        throw error;
      }
    }
  }

  async #compile(endpoint: DiscoveredEndpoint): Promise<void> {
    const { controller, handler, module } = endpoint;
    for (const reference of this.#plans.ruleOf(controller, handler)?.policies ?? []) {
      if (typeof reference === 'string') continue;
      await this.#plans.policies.compileUnnamed(reference, (type) => this.#instances.provide(type, module));
    }
    const plan = this.#plans.planOf(controller, handler);
    if (plan === null) return;
    if (endpoint.isConnection) return this.#limitConnections(endpoint, plan);
    const tools = { plans: this.#plans, enforcement: this.#enforcement };
    if ((plan.args ?? plan.condition) === null) return followWork(endpoint, plan, tools.enforcement);
    limitAfterPipes(endpoint, plan, tools);
    if (plan.condition === null) return;
    const config = this.#ownModule().getProviderByKey<ApplicationConfig>(ApplicationConfig).instance;
    const problem = pipeProblem(endpoint, config) ?? idleProblem(endpoint, config);
    if (problem !== undefined) this.#warnings.once(problem);
  }

  #limitConnections(endpoint: DiscoveredEndpoint, plan: EndpointPlan): void {
    if (limitsConnections(endpoint, this.#settings.endpoints)) this.#connections.register(endpoint, plan);
  }

  #ownModule(): NestModuleRecord {
    const own = [...this.#modules.values()].filter((module) => module.providers.has(SETTINGS));
    if (own.length === 1) return own[0]!;
    throw new RateLimitingConfigurationError(
      'ERR_RL_MODULE_TWICE',
      `RateLimitingModule.forRoot() or forRootAsync() is imported ${own.length} times with different options. Configure it ` +
        'once, in the root module: it is global, and other modules need no import.',
    );
  }
}
