import type { Type } from '@nestjs/common';
import { Inject } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { SETTINGS } from '../module/tokens.js';
import type { PolicyClass, PolicyInstance } from './policy-definition.js';

/** Nest's own record of a module. */
export type NestModuleRecord = ModulesContainer extends Map<string, infer T> ? T : never;

interface LifecycleHooks {
  onModuleInit?(): unknown;
  onModuleDestroy?(): unknown;
}

/** One instance per policy class and application: a provider wherever it lives, else made by the injector. */
export class PolicyInstances {
  readonly #modules: ModulesContainer;
  readonly #instances = new Map<PolicyClass, PolicyInstance>();
  readonly #created: PolicyInstance[] = [];

  constructor(modules: ModulesContainer) {
    this.#modules = modules;
  }

  /**
   * Finds or makes the instance of a class.
   *
   * @param host - the module that names the class: a class that is nobody's provider is made there.
   * @throws RateLimitingConfigurationError `ERR_RL_SCOPED_POLICY` - for a request-scoped or transient one, and for
   * one that depends on something request-scoped;
   * `ERR_RL_INVALID_POLICY` - when its dependencies can't be resolved there.
   */
  async provide(type: PolicyClass, host: NestModuleRecord): Promise<PolicyInstance> {
    const known =
      this.#instances.get(type) ?? (await this.#registered(type)) ?? (await this.#create(type, host));
    this.#instances.set(type, known);
    return known;
  }

  /** Nest calls no hooks of instances that it made on request: their end is ours to tell them. */
  async dispose(): Promise<void> {
    for (const instance of this.#created) await (instance as LifecycleHooks).onModuleDestroy?.();
  }

  async #registered(type: PolicyClass): Promise<PolicyInstance | undefined> {
    for (const module of this.#modules.values()) {
      const wrapper = module.providers.get(type);
      if (wrapper === undefined) continue;
      if (!wrapper.isDependencyTreeStatic() || wrapper.isTransient) throw scopedPolicy(type);
      // In a module that is being loaded it may not be made yet: asked for something that needs it, Nest makes it first.
      const { policy } = await module.getProviderByKey<ModuleRef>(ModuleRef).instance.create(needing(type));
      return policy;
    }
    return undefined;
  }

  async #create(type: PolicyClass, host: NestModuleRecord): Promise<PolicyInstance> {
    if (isScoped(type)) throw scopedPolicy(type);
    const moduleRef = host.getProviderByKey<ModuleRef>(ModuleRef).instance;
    try {
      const instance = await moduleRef.create<PolicyInstance>(type);
      await (instance as LifecycleHooks).onModuleInit?.();
      this.#created.push(instance);
      return instance;
    } catch (cause) {
      if (isScopeProblem(cause)) throw scopedPolicy(type, cause);
      const place = nameOf(host);
      throw new RateLimitingConfigurationError(
        'ERR_RL_INVALID_POLICY',
        `The policy class ${type.name} can't be made in ${place}: ${problemOf(cause, host, place)} ` +
          `Provide ${type.name} in the module that has its dependencies, or give RateLimitingModule.forRoot() the imports it needs.`,
        { cause },
      );
    }
  }
}

/** A class that depends on another one. */
function needing(type: PolicyClass): Type<{ readonly policy: PolicyInstance }> {
  class NeedingPolicy {
    constructor(readonly policy: PolicyInstance) {}
  }
  Inject(type)(NeedingPolicy, undefined, 0);
  return NeedingPolicy;
}

/** Users know the module that they call, and not the one that it makes. */
function nameOf({ metatype, providers }: NestModuleRecord): string {
  return providers.has(SETTINGS) ? 'RateLimitingModule.forRoot()' : metatype.name;
}

/** What Nest says, without its advice: ours is better. */
function problemOf(cause: unknown, { metatype }: NestModuleRecord, place: string): string {
  if (!(cause instanceof Error)) return String(cause);
  const [problem = ''] = cause.message.split('\n\n');
  return problem.replaceAll(`the ${metatype.name} module`, place).replaceAll(metatype.name, place);
}

/** Nest doesn't export the class. */
function isScopeProblem(cause: unknown): boolean {
  return (cause as Error | undefined)?.constructor?.name === 'RequestScopedCreateException';
}

/** Where `@Injectable({ scope })` leaves its options; Nest exports no constant for it. */
const SCOPE_OPTIONS = 'scope:options';

function isScoped(type: Type): boolean {
  const options = Reflect.getMetadata(SCOPE_OPTIONS, type) as { scope?: number } | undefined;
  return (options?.scope ?? 0) !== 0;
}

function scopedPolicy(type: PolicyClass, cause?: unknown): RateLimitingConfigurationError {
  return new RateLimitingConfigurationError(
    'ERR_RL_SCOPED_POLICY',
    `The policy class ${type.name} is request-scoped or transient, or depends on something that is. A policy lives as ` +
      'long as the application: make it and its dependencies singletons, and read what belongs to a request from the context.',
    { cause },
  );
}
