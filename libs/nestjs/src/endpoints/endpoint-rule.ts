import { concurrencyMarkOf } from '../decorators/concurrency-limit.js';
import { disabledPoliciesOf, isDisabled, isDisabledByHeir } from '../decorators/disable-rate-limiting.js';
import type {
  EnableMark,
  EnableRateLimitingOptions,
  PolicyReference,
} from '../decorators/enable-rate-limiting.js';
import { enableMarkOf, readReferences } from '../decorators/enable-rate-limiting.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import type { EndpointBinding } from '../module/rate-limiting-module-options.js';

/** Which policies apply to an endpoint, and how. `null`: none at all, not even the global limiter. */
export type EndpointRule = {
  readonly policies: readonly PolicyReference[];
  readonly options: EnableRateLimitingOptions;
  /** What is taken off, one by one: the global limiter, or policies of the class. */
  readonly off: readonly PolicyReference[];
} | null;

const NO_MARK: EnableMark = { policies: [], options: {} };

/** What class and method say, by decorators or by the `endpoints` of the options. */
export class EndpointRules {
  readonly #bindings: readonly EndpointBinding[];

  constructor(bindings: readonly EndpointBinding[]) {
    this.#bindings = bindings;
  }

  /**
   * The rule of an endpoint: disabled anywhere wins; the method's policies replace the class's, or add to them.
   *
   * @throws RateLimitingConfigurationError `ERR_RL_ENABLED_INSIDE_DISABLED` - for an enabled method of a class
   * that is disabled by its decorator. One that a disabled class inherits is disabled.
   */
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  of(controller: Function, handler: Function): EndpointRule {
    const onClass = this.#binding(controller, undefined);
    const onMethod = this.#binding(controller, handler);
    if (isDisabled(controller, handler) || onMethod?.disabled === true) return null;
    const method = markAt(onMethod, controller, handler);
    const offOfClass = onClass?.disabled === true ? [] : offAt(onClass, controller);
    if (onMethod?.policies !== undefined || !isDisabledByHeir(controller, handler))
      assertNotEnabled([controller, handler], method, offOfClass);
    if (isDisabled(controller) || onClass?.disabled === true) return null;
    const { policies, options } = combined(markAt(onClass, controller), method);
    return { policies, options, off: [...offOfClass, ...offAt(onMethod, controller, handler)] };
  }

  // oxlint-disable-next-line typescript/no-unsafe-function-type
  #binding(controller: Function, handler: Function | undefined): EndpointBinding | undefined {
    return this.#bindings.find(
      (binding) => binding.controller === controller && methodOf(binding) === handler,
    );
  }
}

// oxlint-disable-next-line typescript/no-unsafe-function-type
function methodOf({ controller, handler }: EndpointBinding): Function | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  return handler === undefined
    ? undefined
    : (controller.prototype as Record<string, Function | undefined>)[handler];
}

/** The mark of a class or of its method; a binding stands for the decorator. */
function markAt(
  binding: EndpointBinding | undefined,
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  controller: Function,
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  handler?: Function,
): EnableMark | undefined {
  if (binding?.policies === undefined) return enableMarkOf(controller, handler);
  const { controller: _controller, handler: _handler, policies, disabled: _disabled, ...options } = binding;
  return { policies: readReferences(`endpoints: ${controller.name}`, policies), options };
}

function offAt(
  binding: EndpointBinding | undefined,
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  controller: Function,
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  handler?: Function,
): readonly PolicyReference[] {
  if (binding?.disabled === undefined || typeof binding.disabled === 'boolean')
    return disabledPoliciesOf(controller, handler);
  return readReferences(`endpoints: ${controller.name}`, binding.disabled);
}

function combined(onClass: EnableMark | undefined, onMethod: EnableMark | undefined): EnableMark {
  if (onMethod === undefined) return onClass ?? NO_MARK;
  if (onMethod.options.inherit !== true || onClass === undefined) return onMethod;
  const policies = [...new Set([...onClass.policies, ...onMethod.policies])];
  return { policies, options: { ...onClass.options, ...onMethod.options } };
}

/** An endpoint as messages call it. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function endpointName(controller: Function, handler: Function): string {
  return `${controller.name}.${handler.name}`;
}

/** Throws where a method is limited though its class is not, or not by one of the same policies. */
function assertNotEnabled(
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  [controller, handler]: readonly [Function, Function],
  method: EnableMark | undefined,
  offOfClass: readonly PolicyReference[],
): void {
  const isOff = isDisabled(controller);
  if (isOff && method !== undefined)
    throw enabledInsideDisabled(controller, handler, '@EnableRateLimiting()');
  if (isOff && concurrencyMarkOf(controller, handler) !== undefined)
    throw enabledInsideDisabled(controller, handler, '@ConcurrencyLimit()');
  if (method?.policies.some((policy) => offOfClass.includes(policy)) === true)
    throw enabledInsideDisabled(controller, handler, '@EnableRateLimiting() with one of its policies');
}

function enabledInsideDisabled(
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  controller: Function,
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  handler: Function,
  decorator: string,
): RateLimitingConfigurationError {
  return new RateLimitingConfigurationError(
    'ERR_RL_ENABLED_INSIDE_DISABLED',
    `${endpointName(controller, handler)} has ${decorator}, but ${controller.name} has @DisableRateLimiting(), which wins. ` +
      'Remove one of them; to limit only some methods, disable the others one by one.',
  );
}
