import { concurrencyMarkOf } from '../decorators/concurrency-limit.js';
import { enableMarkOf } from '../decorators/enable-rate-limiting.js';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import type { EndpointBinding } from '../module/rate-limiting-module-options.js';

/**
 * Whether connections are limited by what stands on the method for them, or in the options for it: what stands on the
 * gateway is for messages.
 */
export function limitsConnections(
  { isConnection, controller, methodName, handler }: DiscoveredEndpoint,
  bindings: readonly EndpointBinding[],
): boolean {
  if (!isConnection) return false;
  if (enableMarkOf(controller, handler) !== undefined) return true;
  if (concurrencyMarkOf(controller, handler) !== undefined) return true;
  return bindings.some((binding) => binding?.controller === controller && binding.handler === methodName);
}
