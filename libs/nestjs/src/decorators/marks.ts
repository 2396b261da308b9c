import { methodPlaceOf, placeNamed } from '../endpoints/method-place.js';
import type { Decorated } from './decorated-place.js';

/** The names of what our decorators leave. */
export const ENABLE = 'ratelease:enable';
export const DISABLE = 'ratelease:disable';
export const CONCURRENCY = 'ratelease:concurrency-limit';
const ALL = [ENABLE, DISABLE, CONCURRENCY];

/**
 * Leaves what a decorator says on a class, or on a method: there on the function, as Nest's own decorators, and on the
 * name. A decorator further up may put another function in the method's place, and a limit must not vanish with it.
 */
export function leaveMark(name: string, mark: unknown, [target, key, descriptor]: Decorated): void {
  Reflect.defineMetadata(name, mark, (descriptor?.value as object | undefined) ?? target);
  if (descriptor !== undefined && key !== undefined) Reflect.defineMetadata(name, mark, target, key);
}

/** What a decorator of that name has left before on the very same place. */
export function earlierMark(name: string, [target, key, descriptor]: Decorated): unknown {
  const onFunction: unknown = Reflect.getOwnMetadata(
    name,
    (descriptor?.value as object | undefined) ?? target,
  );
  if (onFunction !== undefined || descriptor === undefined || key === undefined) return onFunction;
  return Reflect.getOwnMetadata(name, target, key);
}

/** The mark of a class (its own or inherited) or, where one is given, of its method. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function markOf(name: string, controller: Function, handler: Function | undefined): unknown {
  const direct: unknown = Reflect.getMetadata(name, handler ?? controller);
  if (direct !== undefined || handler === undefined) return direct;
  const place = methodPlaceOf(controller, handler);
  return place && Reflect.getOwnMetadata(name, place.owner, place.key);
}

/** Whether a class (itself or one that it extends) has a mark. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function isMarkedClass(controller: Function): boolean {
  return ALL.some((name) => Reflect.hasMetadata(name, controller));
}

/** Whether the method of that name has a mark. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function isMarkedMethod(controller: Function, key: string, handler: Function): boolean {
  if (ALL.some((name) => Reflect.hasMetadata(name, handler))) return true;
  const place = placeNamed(controller, key);
  return place !== undefined && ALL.some((name) => Reflect.hasOwnMetadata(name, place.owner, key));
}
