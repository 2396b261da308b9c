import { concurrencyMarkOf } from '../decorators/concurrency-limit.js';
import { enableMarkOf } from '../decorators/enable-rate-limiting.js';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import { endpointName } from '../endpoints/endpoint-rule.js';
import { methodPlaceOf } from '../endpoints/method-place.js';

/**
 * Metadata that says nothing of who calls a method: the compiler's, ours, Swagger's and Nest's about how it is called; and
 * that of timers, events and queues, which call it past guards and interceptors.
 */
const NO_HANDLER = [
  /^design:/,
  /^ratelease:/,
  /^swagger\//,
  /^__(?:guards|interceptors|pipes|exceptionFilters|httpCode|headers|version)__$/,
  /^(?:SCHEDULER?_|EVENT_LISTENER_METADATA$|bull(?:mq)?:)/,
];

/**
 * The methods with a limit of their own that no transport calls: nothing that Nest, or a library beside it, looks for has
 * been left on them.
 *
 * @param endpoints - without those of connections, which we call ourselves.
 */
export function uncalledMethods(endpoints: readonly DiscoveredEndpoint[]): string[] {
  const names = endpoints
    .filter(({ controller, handler }) => isLimited(controller, handler) && !isCalled(controller, handler))
    .map(({ controller, handler }) => endpointName(controller, handler));
  return [...new Set(names)];
}

// oxlint-disable-next-line typescript/no-unsafe-function-type
function isLimited(controller: Function, handler: Function): boolean {
  return (enableMarkOf(controller, handler) ?? concurrencyMarkOf(controller, handler)) !== undefined;
}

// oxlint-disable-next-line typescript/no-unsafe-function-type
function isCalled(controller: Function, handler: Function): boolean {
  const place = methodPlaceOf(controller, handler);
  const keys: unknown[] = [
    ...Reflect.getMetadataKeys(handler),
    ...(place === undefined ? [] : Reflect.getMetadataKeys(place.owner, place.key)),
  ];
  return keys.some((key) => typeof key !== 'string' || !NO_HANDLER.some((pattern) => pattern.test(key)));
}
