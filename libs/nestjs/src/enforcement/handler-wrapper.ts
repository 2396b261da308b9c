import type { MethodGate } from '../binding/method-gates.js';
import { frozenClass } from '../binding/frozen-class.js';
import { gateHandler, handlesMessage, isRoute } from '../binding/handler-gates.js';
import { gatesOf } from '../binding/method-gates.js';
import { canReplaceOn, replaceMethod } from '../binding/method-replacement.js';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import type { EndpointPlan } from '../endpoints/endpoint-plan.js';
import type { PlanBook } from '../endpoints/plan-book.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { endpointName } from '../endpoints/endpoint-rule.js';
import type { Enforcement } from './enforcement.js';
import type { Holder } from '../holding/holder.js';
import { runHeld } from '../holding/held-work.js';
import { runningHandling } from '../holding/running-handling.js';
import { unanswered } from './unanswered.js';

type Method = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Has an endpoint take its permits after pipes: its method on the controller's instance is replaced by one that
 * does so first, or, where that has a gate, it happens there. The class stays untouched, because another application of
 * the process may use it. Calls that don't come from a limited request, such as those of other code and of tests, pass.
 *
 * @throws RateLimitingConfigurationError `ERR_RL_INVALID_ENDPOINT` - for a controller that is made per request, and for one
 * that lets nobody replace the method.
 */
export function limitAfterPipes(endpoint: DiscoveredEndpoint, plan: EndpointPlan, tools: WrapperTools): void {
  const { controller, instance, methodName, handler } = endpoint;
  if (instance === undefined) {
    throw new RateLimitingConfigurationError(
      'ERR_RL_INVALID_ENDPOINT',
      `${endpointName(controller, handler)} has ${plan.args === null ? '@ConcurrencyLimit()' : "phase: 'handler'"}, which needs a controller that lives as long as the application. ` +
        'Make the controller a singleton, or use another phase.',
    );
  }
  const gate = gateOf(plan, tools.enforcement);
  if (gatesOf(handler) === undefined && isRoute(endpoint) && canReplaceOn(instance)) {
    const wrapper = wrapped(handler as Method, gate);
    replaceMethod(instance, methodName, wrapper);
    tools.plans.alias(controller, wrapper, plan);
    return;
  }
  const method = gatedMethodOf(endpoint);
  gatesOf(method)!.set(instance, gate);
  tools.plans.alias(controller, method, plan);
}

/**
 * Has messages hold their permits while a promise of their handler runs, where nothing is taken after pipes.
 *
 * @throws RateLimitingConfigurationError `ERR_RL_INVALID_ENDPOINT` - where the class is frozen.
 */
export function followWork(endpoint: DiscoveredEndpoint, plan: EndpointPlan, enforcement: Enforcement): void {
  if (!plan.isFollowed || !handlesMessage(endpoint)) return;
  const method = gatedMethodOf(endpoint);
  const { instance } = endpoint;
  // Of what is made per message nobody knows the instance: there the method itself stands for all.
  if (instance === undefined) gatesOf(method)!.set(method, holdingGateOf(method));
  else gatesOf(method)!.set(instance, gateOf(plan, enforcement));
}

/** Holds for whatever application's message has come to the method. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
function holdingGateOf(method: Function): MethodGate {
  return (_args, run) => {
    const holder = runningHandling().getStore();
    return holder?.plan.handler === method ? runHeld(holder, run) : run();
  };
}

/** The method with its place for gates. Routes get it only where nothing can be replaced on their instance. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
function gatedMethodOf(endpoint: DiscoveredEndpoint): Function {
  const { controller, methodName, handler } = endpoint;
  if (gatesOf(handler) !== undefined) return handler;
  gateHandler(endpoint);
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  const method = (controller.prototype as Record<string, Function>)[methodName]!;
  if (gatesOf(method) === undefined) throw frozenClass(controller, handler);
  return method;
}

/** What wrapping needs from the application. */
export interface WrapperTools {
  readonly plans: PlanBook;
  readonly enforcement: Enforcement;
}

function wrapped(method: Method, gate: MethodGate): Method {
  return function limited(this: unknown, ...args: unknown[]): unknown {
    return gate(args, () => method.apply(this, args));
  };
}

function gateOf(plan: EndpointPlan, enforcement: Enforcement): MethodGate {
  return (args, run) => {
    const holder = runningHandling().getStore();
    if (holder === undefined || holder.plan !== plan) return run();
    if ((plan.args ?? plan.condition) === null) return runHeld(holder, run);
    if (!isDecided(holder)) holder.context.args = args;
    // Called again, by an interceptor that retries, it meets the same decision: a refused request stays refused.
    return passBoth(enforcement, holder).then((goesOn) => (goesOn ? runHeld(holder, run) : unanswered()));
  };
}

function isDecided({ plan, decisions }: Holder): boolean {
  return (plan.args === null ? decisions.condition : decisions.args) !== undefined;
}

async function passBoth(enforcement: Enforcement, holder: Holder): Promise<boolean> {
  if (!(await enforcement.pass('args', holder))) return false;
  return enforcement.pass('condition', holder);
}
