import { methodPlaceOf } from './method-place.js';

/** Nest's, which exports no names for them. */
const ROUTE_ARGUMENTS = '__routeArguments__';
const SSE = '__sse__';
const CUSTOM = '__customRouteArgs__';
const RESPONSE = '1';
const NEXT = '2';

/**
 * Whether a handler may send its response itself: it streams events, or a parameter is the response (`@Res()`), the
 * next middleware (`@Next()`) or one of the application's decorators, which can be anything.
 */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function mayRespondItself(controller: Function, handler: Function): boolean {
  if (Reflect.getMetadata(SSE, handler) === true) return true;
  const place = methodPlaceOf(controller, handler);
  if (place === undefined) return true;
  const parameters = Reflect.getMetadata(ROUTE_ARGUMENTS, controller, place.key) as object | undefined;
  return Object.keys(parameters ?? {}).some((parameter) => {
    const [kind] = parameter.split(':');
    return kind === RESPONSE || kind === NEXT || parameter.includes(CUSTOM);
  });
}
