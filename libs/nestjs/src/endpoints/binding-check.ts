import { checkKnown } from '../errors/check-known.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { suggestion } from '../errors/nearest-name.js';
import { shown } from '../errors/shown.js';
import type { EndpointBinding } from '../module/rate-limiting-module-options.js';
import type { DiscoveredEndpoint } from './endpoint-discovery.js';

const KNOWN = [
  'controller',
  'handler',
  'policies',
  'disabled',
  'phase',
  'permitCount',
  'when',
  'maxWaitMs',
  'heldUntil',
];

/**
 * Makes sure that the `endpoints` of the options mean something.
 * @throws RateLimitingConfigurationError `ERR_RL_INVALID_ENDPOINT` - for a class or method that isn't there.
 */
export function checkBindings(
  bindings: readonly EndpointBinding[],
  endpoints: readonly DiscoveredEndpoint[],
): void {
  for (const [index, binding] of bindings.entries()) {
    if (typeof binding !== 'object' || binding === null) {
      throw invalid(`entry ${index} must be an object with a controller, but got ${shown(binding)}`);
    }
    checkBinding(binding, endpoints);
    const { controller, handler } = binding;
    if (
      bindings.findIndex((other) => other?.controller === controller && other.handler === handler) < index
    ) {
      throw invalid(
        `there are two entries for ${controller.name}${handler === undefined ? '' : `.${handler}`}; make them one`,
      );
    }
  }
}

function checkBinding(binding: EndpointBinding, endpoints: readonly DiscoveredEndpoint[]): void {
  const { controller, handler, policies, disabled } = binding;
  if (typeof controller !== 'function')
    throw invalid(`controller must be a class, but got ${shown(controller)}`);
  const methods = endpoints
    .filter((endpoint) => endpoint.controller === controller)
    .map(({ methodName }) => methodName);
  if (methods.length === 0) throw invalid(`${controller.name} is no controller of this application`);
  if (handler !== undefined && !methods.includes(handler)) {
    throw invalid(
      `${controller.name} has no method ${shown(handler)}. ${suggestion(handler, methods, 'methods')}`,
    );
  }
  const problem = `endpoints: ${controller.name} has the unknown option`;
  checkKnown(problem, binding, KNOWN, 'ERR_RL_INVALID_ENDPOINT');
  if (policies === undefined && (disabled === undefined || disabled === false)) {
    throw invalid(`${controller.name} has neither policies nor disabled: true, so that it would do nothing`);
  }
}

function invalid(problem: string): RateLimitingConfigurationError {
  return new RateLimitingConfigurationError(
    'ERR_RL_INVALID_ENDPOINT',
    `endpoints: ${problem}${/[.?]$/.test(problem) ? '' : '.'}`,
  );
}
