import type { ApplicationConfig } from '@nestjs/core';
import { endpointName } from '../endpoints/endpoint-rule.js';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import { methodPlaceOf } from '../endpoints/method-place.js';
import { parameterTypesOf } from './limit-condition.js';
import { declaresLimit } from './rate-limitable.js';

// Nest exports no constants for where it keeps pipes and parameters.
const PIPES = '__pipes__';
const PARAMETERS = '__routeArguments__';

/** What Nest notes of a parameter. */
export interface Parameter {
  readonly index: number;
  readonly pipes?: readonly unknown[];
}

/**
 * What is wrong with a conditional limit whose parameter's class knows `isLimit`, but gets plain JSON, because no
 * pipe makes an instance of it; `undefined` for nothing. A pipe that nobody knows may well do so.
 */
export function pipeProblem(endpoint: DiscoveredEndpoint, config: ApplicationConfig): string | undefined {
  const { controller, handler } = endpoint;
  const index = parameterTypesOf(controller, handler).findIndex(
    (type) => type !== undefined && declaresLimit(type),
  );
  if (index < 0 || pipesOf(endpoint, index, config).some(mayTransform)) return undefined;
  const name = endpointName(controller, handler);
  return (
    `${name}: parameter ${index + 1} knows isLimit, but no pipe makes an instance of its class from plain JSON, so that ` +
    'every request is limited. Bind a pipe that transforms, such as new ValidationPipe({ transform: true }).'
  );
}

/** The parameters of a method that Nest fills. */
export function parametersOf({ controller, handler }: DiscoveredEndpoint): Parameter[] {
  const place = methodPlaceOf(controller, handler);
  if (place === undefined) return [];
  const parameters = Reflect.getMetadata(PARAMETERS, controller, place.key) as
    Readonly<Record<string, Parameter>> | undefined;
  return Object.values(parameters ?? {});
}

/** All pipes that a parameter goes through. */
export function pipesOf(endpoint: DiscoveredEndpoint, index: number, config: ApplicationConfig): unknown[] {
  const { controller, handler } = endpoint;
  const own = parametersOf(endpoint).filter((parameter) => parameter.index === index);
  const declared = [controller, handler].flatMap(
    (target) => (Reflect.getMetadata(PIPES, target) as unknown[] | undefined) ?? [],
  );
  return [
    ...config.getGlobalPipes(),
    ...config.getGlobalRequestPipes(),
    ...declared,
    ...own.flatMap(({ pipes }) => pipes ?? []),
  ];
}

/** Only Nest's own validation says that it doesn't. */
function mayTransform(pipe: unknown): boolean {
  if (typeof pipe === 'function') return pipe.name !== 'ValidationPipe';
  return (pipe as { isTransformEnabled?: unknown } | null)?.isTransformEnabled !== false;
}
