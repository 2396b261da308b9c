import { limitCondition, parameterTypesOf } from '../conditional/limit-condition.js';
import { concurrencyMarkOf } from '../decorators/concurrency-limit.js';
import type { EnableRateLimitingOptions, EnforcementPhase } from '../decorators/enable-rate-limiting.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { shown } from '../errors/shown.js';
import type { Settings } from '../module/settings.js';
import type { PolicyRegistry } from '../policies/policy-registry.js';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import type { Acquisition, EndpointPlan } from './endpoint-plan.js';
import type { EndpointRule } from './endpoint-rule.js';
import { endpointName, EndpointRules } from './endpoint-rule.js';
import { mayRespondItself } from './response-parameters.js';

const PHASES: readonly EnforcementPhase[] = ['guard', 'interceptor', 'handler'];
const HOLD_ENDS = ['response', 'handler'];

/** The plan of every endpoint, made once: a request costs two look-ups. */
export class PlanBook {
  readonly #settings: Settings;
  /** What the plans are made of. */
  readonly policies: PolicyRegistry;
  readonly #rules: EndpointRules;
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  readonly #plans = new Map<Function, Map<Function, EndpointPlan | null>>();

  #beforeRouting: EndpointPlan | null | undefined = undefined;

  constructor(settings: Settings, policies: PolicyRegistry) {
    this.#settings = settings;
    this.policies = policies;
    this.#rules = new EndpointRules(settings.endpoints);
  }

  /** What applies to an endpoint; `null` for nothing. */
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  planOf(controller: Function, handler: Function): EndpointPlan | null {
    const plan = this.#plans.get(controller)?.get(handler);
    return plan === undefined ? this.#enter(controller, handler) : plan;
  }

  /** What applies to every request before its handler is chosen; `null` for nothing. */
  get planBeforeRouting(): EndpointPlan | null {
    if (this.#beforeRouting === undefined) this.#beforeRouting = this.#makeBeforeRouting();
    return this.#beforeRouting;
  }

  /** Which policies apply to an endpoint, before they are compiled. */
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  ruleOf(controller: Function, handler: Function): EndpointRule {
    return this.#rules.of(controller, handler);
  }

  /** Notes a function that stands in a handler's place. */
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  alias(controller: Function, wrapper: Function, plan: EndpointPlan): void {
    this.#handlersOf(controller).set(wrapper, plan);
  }

  // oxlint-disable-next-line typescript/no-unsafe-function-type
  #enter(controller: Function, handler: Function): EndpointPlan | null {
    const plan = this.#make(controller, handler);
    this.#handlersOf(controller).set(handler, plan);
    return plan;
  }

  // oxlint-disable-next-line typescript/no-unsafe-function-type
  #handlersOf(controller: Function): Map<Function, EndpointPlan | null> {
    let handlers = this.#plans.get(controller);
    if (handlers === undefined) this.#plans.set(controller, (handlers = new Map()));
    return handlers;
  }

  // oxlint-disable-next-line typescript/no-unsafe-function-type
  #make(controller: Function, handler: Function): EndpointPlan | null {
    const rule = this.#rules.of(controller, handler);
    if (rule === null) return null;
    const endpoint = endpointName(controller, handler);
    checkOptions(endpoint, rule.options);
    const off = new Set(rule.off.map((reference) => this.policies.named(reference, endpoint)));
    const policies = rule.policies
      .map((reference) => this.policies.find(reference, endpoint))
      .filter((policy) => !off.has(policy));
    const condition = this.#condition(controller, handler);
    const { phase = 'interceptor' } = rule.options;
    const everywhere = this.#everywhere(phase, off);
    const inPhase = (each: EnforcementPhase | 'middleware'): Acquisition | null =>
      this.#acquisition(
        endpoint,
        everywhere[each],
        each === phase ? { here: policies } : { elsewhere: policies },
        rule.options,
      );
    const byPhase = {
      middleware: inPhase('middleware'),
      guard: inPhase('guard'),
      interceptor: inPhase('interceptor'),
      handler: inPhase('handler'),
    };
    const all = [...Object.values(byPhase), condition].filter((acquisition) => acquisition !== null);
    if (all.length === 0 || !this.#settings.enabled) return null;
    const mustFollow = all.some(isFollowed);
    return {
      handler,
      middleware: byPhase.middleware,
      guard: byPhase.guard,
      interceptor: byPhase.interceptor,
      args: byPhase.handler,
      condition,
      isFollowed: mustFollow,
      isHeldByHandler: rule.options.heldUntil === 'handler',
      briefPhase: all.length > 1 || mustFollow ? null : briefPhaseOf(byPhase),
      mayRespondItself: mayRespondItself(controller, handler),
    };
  }

  /** What is taken in which phase, whatever the endpoint's policies are. */
  #everywhere(
    phase: EnforcementPhase,
    off: ReadonlySet<CompiledPolicy>,
  ): Record<EnforcementPhase | 'middleware', CompiledPolicy[]> {
    const { global, additional } = this.policies;
    const everywhere: Record<EnforcementPhase | 'middleware', CompiledPolicy[]> = {
      middleware: [],
      guard: [],
      interceptor: [],
      handler: [],
    };
    if (global !== undefined && !off.has(global))
      everywhere[this.#settings.globalPhase ?? phase].push(global);
    everywhere[phase === 'guard' ? 'interceptor' : phase].push(...additional);
    return everywhere;
  }

  #makeBeforeRouting(): EndpointPlan | null {
    const { global } = this.policies;
    const { globalPhase, enabled } = this.#settings;
    if (global === undefined || globalPhase !== 'middleware' || !enabled) return null;
    const middleware = this.#acquisition('The global limiter', [global], {}, {})!;
    const others = { guard: null, interceptor: null, args: null, condition: null };
    const rest = {
      isFollowed: isFollowed(middleware),
      isHeldByHandler: false,
      briefPhase: null,
      mayRespondItself: true,
    };
    return { handler: beforeRouting, middleware, ...others, ...rest };
  }

  /** A second acquisition, after pipes: the arguments say whether it is made. */
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  #condition(controller: Function, handler: Function): Acquisition | null {
    const mark = concurrencyMarkOf(controller, handler);
    if (mark === undefined) return null;
    const endpoint = endpointName(controller, handler);
    if (mark.when !== undefined && typeof mark.when !== 'function') {
      throw invalid(`${endpoint}: @ConcurrencyLimit()`, 'when', 'a function', mark.when);
    }
    const set = this.policies.setOf([this.policies.addConcurrencyLimit(endpoint, mark.limit)])!;
    const when = limitCondition(mark, parameterTypesOf(controller, handler));
    return {
      endpoint,
      set,
      shadows: [],
      otherwise: null,
      elsewhere: [],
      permitCount: 1,
      when,
      maxWaitMs: undefined,
      message: mark.message,
    };
  }

  #acquisition(
    endpoint: string,
    global: readonly CompiledPolicy[],
    {
      here = [],
      elsewhere = [],
    }: { here?: readonly CompiledPolicy[]; elsewhere?: readonly CompiledPolicy[] },
    options: EnableRateLimitingOptions,
  ): Acquisition | null {
    const set = this.policies.setOf([...global, ...here].filter(isEnforced));
    const shadows = [...global, ...here]
      .filter(({ isShadow }) => isShadow)
      .map((shadow) => this.policies.setOf([shadow])!);
    if (set === null && shadows.length === 0) return null;
    const { permitCount = 1, when, maxWaitMs } = here.length === 0 ? {} : options;
    const otherwise = this.policies.setOf(global.filter(isEnforced));
    return {
      endpoint,
      set,
      shadows,
      otherwise,
      elsewhere: elsewhere.filter(isEnforced),
      permitCount,
      when,
      maxWaitMs,
    };
  }
}

/** Whether a policy refuses anybody. */
function isEnforced({ isShadow }: CompiledPolicy): boolean {
  return !isShadow;
}

/** Stands for the handler of a request that none was chosen for yet. */
function beforeRouting(): void {
  // It is never called.
}

function briefPhaseOf({
  guard,
  interceptor,
}: Record<EnforcementPhase, Acquisition | null>): EndpointPlan['briefPhase'] {
  if (guard !== null) return 'guard';
  return interceptor === null ? null : 'interceptor';
}

/** Whether a request must be followed to its end. */
function isFollowed({ set, shadows, maxWaitMs }: Acquisition): boolean {
  if (shadows.some(({ holdsPermits }) => holdsPermits)) return true;
  return set !== null && (set.mayWait || set.holdsPermits || maxWaitMs !== undefined);
}

function checkOptions(endpoint: string, options: EnableRateLimitingOptions): void {
  const { phase, permitCount, when, maxWaitMs } = options;
  checkChoice(endpoint, 'phase', phase, PHASES);
  checkChoice(endpoint, 'heldUntil', options.heldUntil, HOLD_ENDS);
  if (permitCount !== undefined && typeof permitCount !== 'function' && !isCount(permitCount)) {
    throw invalid(endpoint, 'permitCount', 'an integer of at least 0, or a function', permitCount);
  }
  if (when !== undefined && typeof when !== 'function') throw invalid(endpoint, 'when', 'a function', when);
  if (maxWaitMs !== undefined && !(typeof maxWaitMs === 'number' && maxWaitMs >= 0)) {
    throw invalid(endpoint, 'maxWaitMs', 'a number of milliseconds of at least 0', maxWaitMs);
  }
}

function checkChoice(
  endpoint: string,
  option: string,
  value: string | undefined,
  choices: readonly string[],
): void {
  if (value === undefined || choices.includes(value)) return;
  throw invalid(endpoint, option, choices.map((name) => `'${name}'`).join(' or '), value);
}

/** Whether a value can be a number of permits. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function invalid(
  endpoint: string,
  option: string,
  allowed: string,
  got: unknown,
): RateLimitingConfigurationError {
  return new RateLimitingConfigurationError(
    'ERR_RL_INVALID_OPTION',
    `${endpoint}: ${option} must be ${allowed}, but got ${shown(got)}.`,
  );
}
