import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import type { SpacedKeyFunction } from './key-function.js';
import { spaced } from './key-function.js';

/**
 * Counts by the route's template with its method, such as `GET /verify/:code`: each guessed code is the same key.
 * Where there is no route, by class and method; before routing all requests share one key.
 */
export function byRoute(): SpacedKeyFunction {
  return spaced((context) => `route=${routeOf(context)}`);
}

/** No two routes are called so: a method never contains a space. */
const NOWHERE = 'no route';

function routeOf(context: RateLimitingContext): string {
  const request = context.request as RoutedRequest | undefined;
  const template = context.type === 'http' ? (request?.routeOptions?.url ?? request?.route?.path) : undefined;
  if (request === undefined || template === undefined)
    return context.handler === undefined ? NOWHERE : `${context.controller?.name}.${context.handler.name}`;
  // A HEAD request is answered by the GET route.
  return `${request.method === 'HEAD' ? 'GET' : request.method} ${template}`;
}

interface RoutedRequest {
  readonly method: string;
  /** Fastify. */
  readonly routeOptions?: { readonly url?: string };
  /** Express. */
  readonly route?: { readonly path?: string };
}
