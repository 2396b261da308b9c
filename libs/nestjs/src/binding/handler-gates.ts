import type { ModulesContainer } from '@nestjs/core';
import { concurrencyMarkOf } from '../decorators/concurrency-limit.js';
import { enableMarkOf } from '../decorators/enable-rate-limiting.js';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import { discoverEndpoints } from '../endpoints/endpoint-discovery.js';
import { methodPlaceOf } from '../endpoints/method-place.js';
import { handlesSocketMessage } from '../transports/socket-message.js';
import type { EndpointBinding } from '../module/rate-limiting-module-options.js';
import { gateMethod } from './method-gates.js';

// Nest's, which exports no names for them.
const ROUTE = 'path';
const MESSAGE_PATTERN = 'microservices:handler_type';

/**
 * Gates the handlers of messages and resolvers that may take permits after their pipes, and all that sockets have: their
 * work may outlast what Nest listens to. To be called when the modules are known and nothing is made of them yet, and once
 * more when everything is, for the resolvers that factories have made. Routes need no gates: Nest takes their methods from
 * the instance, and later.
 */
export function gateHandlers(modules: ModulesContainer, bindings: readonly EndpointBinding[]): void {
  for (const endpoint of discoverEndpoints(modules)) {
    if (!handlesSocketMessage(endpoint.handler)) {
      if (isRoute(endpoint) || !mayTakeAfterPipes(endpoint, bindings)) continue;
    }
    const place = methodPlaceOf(endpoint.controller, endpoint.handler);
    if (place !== undefined) gateMethod(place);
  }
}

function isRoute({ handler }: DiscoveredEndpoint): boolean {
  return Reflect.hasMetadata(ROUTE, handler) && !Reflect.hasMetadata(MESSAGE_PATTERN, handler);
}

function mayTakeAfterPipes(
  { controller, handler }: DiscoveredEndpoint,
  bindings: readonly EndpointBinding[],
): boolean {
  if (concurrencyMarkOf(controller, handler) !== undefined) return true;
  const marks = [enableMarkOf(controller), enableMarkOf(controller, handler)];
  if (marks.some((mark) => mark?.options.phase === 'handler')) return true;
  return bindings.some((binding) => binding?.controller === controller && binding.phase === 'handler');
}
