import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import type { ConcurrencyMark } from '../decorators/concurrency-limit.js';
import { methodPlaceOf } from '../endpoints/method-place.js';
import { isLimited } from './rate-limitable.js';

/** Whether a request needs a permit of a conditional limit, by the arguments that its handler gets. */
export function limitCondition(
  { when }: ConcurrencyMark,
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  parameterTypes: readonly (Function | undefined)[],
): (context: RateLimitingContext) => boolean | Promise<boolean> {
  return ({ args = [] }) =>
    args.some((argument, index) => isLimited(argument, parameterTypes[index])) || (when?.(...args) ?? false);
}

/** The classes that a method's parameters were declared with, as the compiler notes them. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function parameterTypesOf(controller: Function, handler: Function): (Function | undefined)[] {
  const place = methodPlaceOf(controller, handler);
  if (place === undefined) return [];
  const types = Reflect.getMetadata('design:paramtypes', place.owner, place.key) as unknown[] | undefined;
  return (types ?? []).map((type) => (typeof type === 'function' ? type : undefined));
}
