import { RequestMethod } from '@nestjs/common';
import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import type { SpacedKeyFunction } from './key-function.js';
import { makesKeys, spaced } from './key-function.js';

/**
 * Counts by the route's template with its method, such as `GET /verify/:code`: each guessed code is the same key, and so
 * is each method of a route for all of them.
 * Over GraphQL by the field of the schema, in microservices by the pattern, over WebSockets by class and method; before
 * routing all requests share one key.
 */
export function byRoute(): SpacedKeyFunction {
  return spaced((context) => `route=${routeOf(context)}`);
}
makesKeys(byRoute);

/** No two routes are called so: a method never contains a space. */
const NOWHERE = 'no route';

function routeOf(context: RateLimitingContext): string {
  const request = context.request as RoutedRequest | undefined;
  const template = context.type === 'http' ? (request?.routeOptions?.url ?? request?.route?.path) : undefined;
  if (request === undefined || template === undefined) return handlerOf(context);
  return `${methodOf(request, context)} ${template}`;
}

/** The method of the route, not of the request where that may choose: else `@All()` had a counter for each of them. */
function methodOf({ method, routeOptions }: RoutedRequest, { handler }: RateLimitingContext): string {
  const isForAll =
    handler === undefined
      ? Array.isArray(routeOptions?.method)
      : Reflect.getMetadata(METHOD, handler) === RequestMethod.ALL;
  if (isForAll) return 'ALL';
  // A HEAD request is answered by the GET route.
  return method === 'HEAD' ? 'GET' : method;
}

/** Names that clients call it by come first: those of classes may be shared, and change with each build. */
function handlerOf({ type, execution, controller, handler }: RateLimitingContext): string {
  if (handler === undefined) return NOWHERE;
  const info = type === 'graphql' ? execution.getArgByIndex<ResolveInfo | undefined>(3) : undefined;
  if (info?.parentType !== undefined) return `${info.parentType.name}.${info.fieldName}`;
  const pattern: unknown = type === 'rpc' ? Reflect.getMetadata(PATTERN, handler) : undefined;
  return pattern === undefined ? `${controller?.name}.${handler.name}` : JSON.stringify(pattern);
}

/** Where `@MessagePattern()` and `@EventPattern()` leave theirs; Nest exports no name for it. */
const PATTERN = 'microservices:pattern';

/** Where `@Get()`, `@All()` and the like leave theirs; Nest 12 exports no name for it. */
const METHOD = 'method';

/** What GraphQL tells a resolver of its field. */
interface ResolveInfo {
  readonly parentType?: { readonly name: string };
  readonly fieldName: string;
}

interface RoutedRequest {
  readonly method: string;
  /** Fastify. */
  readonly routeOptions?: { readonly url?: string; readonly method?: string | readonly string[] };
  /** Express. */
  readonly route?: { readonly path?: string };
}
