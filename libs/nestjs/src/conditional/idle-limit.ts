import type { ApplicationConfig } from '@nestjs/core';
import { concurrencyMarkOf } from '../decorators/concurrency-limit.js';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import { endpointName } from '../endpoints/endpoint-rule.js';
import { methodPlaceOf } from '../endpoints/method-place.js';
import { parameterTypesOf } from './limit-condition.js';
import { parametersOf, pipesOf } from './pipe-check.js';

/** Values of these never say `isLimit`, whatever pipes make of them. */
const SILENT: ReadonlySet<unknown> = new Set([String, Number, Boolean, BigInt, Symbol, Array, Date]);

/**
 * What is wrong with a conditional limit that no request can need, as it has no `when`, and no argument that could say
 * `isLimit`; `undefined` where one may: its class knows it, or nobody knows what will be passed.
 */
export function idleProblem(endpoint: DiscoveredEndpoint, config: ApplicationConfig): string | undefined {
  const { controller, handler } = endpoint;
  if (concurrencyMarkOf(controller, handler)?.when !== undefined) return undefined;
  const isTyped = hasTypes(endpoint);
  const types = isTyped ? parameterTypesOf(controller, handler) : parametersOf(endpoint).map(() => undefined);
  if (types.some((type, index) => maySay(type, isTyped, pipesOf(endpoint, index, config)))) return undefined;
  const name = endpointName(controller, handler);
  const reason =
    isTyped || types.length === 0
      ? 'no parameter is of a class that knows isLimit'
      : 'the compiler notes no types of parameters (emitDecoratorMetadata), so that nobody knows which class knows isLimit';
  return (
    `${name}: @ConcurrencyLimit() limits nothing: it has no when, and ${reason}. Limit all requests of the handler by ` +
    "@EnableRateLimiting() with a policy of the algorithm 'concurrency', or some by { when }."
  );
}

function hasTypes({ controller, handler }: DiscoveredEndpoint): boolean {
  const place = methodPlaceOf(controller, handler);
  return place !== undefined && Reflect.hasMetadata('design:paramtypes', place.owner, place.key);
}

// oxlint-disable-next-line typescript/no-unsafe-function-type
function maySay(type: Function | undefined, isTyped: boolean, pipes: readonly unknown[]): boolean {
  if (SILENT.has(type)) return false;
  const isUnknown = isTyped && (type === undefined || type === Object);
  return isUnknown || (type !== undefined && knowsLimit(type)) || pipes.some(isForeign);
}

/** Whether a class or one that it extends has `isLimit`: a getter, or a field, which only its text shows. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
function knowsLimit(type: Function): boolean {
  let each: unknown = type;
  while (typeof each === 'function' && each !== Function.prototype) {
    if (/\bisLimit\b/.test(Function.prototype.toString.call(each))) return true;
    each = Object.getPrototypeOf(each);
  }
  return false;
}

/** Nest's own validation makes instances of the declared class, if of any; others may make what they like. */
function isForeign(pipe: unknown): boolean {
  const type = typeof pipe === 'function' ? pipe : (pipe as object).constructor;
  return type.name !== 'ValidationPipe';
}
