import type { ModulesContainer } from '@nestjs/core';
import { concurrencyMarkOf } from '../decorators/concurrency-limit.js';
import { enableMarkOf } from '../decorators/enable-rate-limiting.js';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import { discoverEndpoints } from '../endpoints/endpoint-discovery.js';
import { methodPlaceOf } from '../endpoints/method-place.js';
import { limitsConnections } from '../transports/socket-connection.js';
import { handlesSocketMessage } from '../transports/socket-message.js';
import type { EndpointBinding } from '../module/rate-limiting-module-options.js';
import { gateMethod } from './method-gates.js';

// Nest's, which exports no names for them.
const ROUTE = 'path';
const MESSAGE_PATTERN = 'microservices:handler_type';

/**
 * Gates the handlers of messages, whose work may outlast what Nest listens to, the resolvers that may take permits after
 * their pipes, and what is called for connections that have a limit. To be called when the modules are known and nothing
 * is made of them yet, and once more when everything is, for the resolvers that factories have made. Routes need no gates:
 * Nest takes their methods from the instance, and later.
 */
export function gateHandlers(modules: ModulesContainer, bindings: readonly EndpointBinding[]): void {
  for (const endpoint of discoverEndpoints(modules)) {
    if (needsGate(endpoint, bindings)) gateHandler(endpoint);
  }
}

/** Gates a method where it stands, if nobody has frozen that. */
export function gateHandler({ controller, handler }: DiscoveredEndpoint): void {
  const place = methodPlaceOf(controller, handler);
  if (place !== undefined) gateMethod(place);
}

function needsGate(endpoint: DiscoveredEndpoint, bindings: readonly EndpointBinding[]): boolean {
  if (endpoint.isConnection) return limitsConnections(endpoint, bindings);
  if (handlesMessage(endpoint)) return true;
  return !isRoute(endpoint) && mayTakeAfterPipes(endpoint, bindings);
}

/** Whether Nest calls a method for messages of sockets or of a microservice. */
export function handlesMessage({ handler }: DiscoveredEndpoint): boolean {
  return handlesSocketMessage(handler) || Reflect.hasMetadata(MESSAGE_PATTERN, handler);
}

/** Whether Nest calls a method for requests over HTTP, and for nothing else. */
export function isRoute(endpoint: DiscoveredEndpoint): boolean {
  return Reflect.hasMetadata(ROUTE, endpoint.handler) && !handlesMessage(endpoint);
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
