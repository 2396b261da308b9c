import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { MetadataScanner } from '@nestjs/core';
import { isMarkedClass, isMarkedMethod } from '../decorators/marks.js';
import type { NestModuleRecord } from '../policies/policy-instances.js';
import { CONNECTION_METHOD, isGateway } from '../transports/gateway.js';
import { handlesSocketMessage } from '../transports/socket-message.js';

/** A method that handles requests or messages, or may do so. */
export interface DiscoveredEndpoint {
  readonly module: NestModuleRecord;
  readonly controller: Type;
  readonly methodName: string;
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  readonly handler: Function;
  /** The controller's instance; `undefined` where there is one per request. */
  readonly instance: object | undefined;
  /** Whether it is called for clients that connect, and not for messages or requests. */
  readonly isConnection: boolean;
}

/**
 * All methods of controllers, and of providers those that handle messages and connections of sockets and the decorated
 * ones (gateways, resolvers): every place where a policy may be named.
 */
export function discoverEndpoints(modules: ModulesContainer): DiscoveredEndpoint[] {
  const scanner = new MetadataScanner();
  return [...modules.values()].flatMap((module) => [
    ...[...module.controllers.values()].flatMap((wrapper) => endpointsOf(scanner, module, wrapper)),
    ...[...module.providers.values()].flatMap((wrapper) => limitedOf(endpointsOf(scanner, module, wrapper))),
  ]);
}

/** Nest's own record of a class and its instance. */
type InstanceRecord = NestModuleRecord['controllers' | 'providers'] extends Map<unknown, infer T> ? T : never;

function endpointsOf(
  scanner: MetadataScanner,
  module: NestModuleRecord,
  wrapper: InstanceRecord,
): DiscoveredEndpoint[] {
  const controller = classOf(wrapper);
  if (controller === undefined) return [];
  const isStatic = wrapper.isDependencyTreeStatic() && !wrapper.isTransient;
  const instance = isStatic ? (wrapper.instance as object | undefined) : undefined;
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  const prototype = controller.prototype as Record<string, Function>;
  return scanner.getAllMethodNames(prototype).map((methodName) => ({
    module,
    controller,
    methodName,
    handler: prototype[methodName]!,
    instance,
    isConnection: methodName === CONNECTION_METHOD && isGateway(controller),
  }));
}

/** Of a provider's methods those that a policy may be named at. */
function limitedOf(methods: DiscoveredEndpoint[]): DiscoveredEndpoint[] {
  const [first] = methods;
  if (first === undefined || isMarkedClass(first.controller)) return methods;
  return methods.filter(
    ({ controller, methodName, handler, isConnection }) =>
      isConnection || handlesSocketMessage(handler) || isMarkedMethod(controller, methodName, handler),
  );
}

/** The class of a provider; of one that is a value, or made by a factory, the class of what there is already. */
function classOf({ metatype, isNotMetatype, instance }: InstanceRecord): Type | undefined {
  const type: unknown = isNotMetatype ? constructorOf(instance) : metatype;
  const hasPrototype =
    typeof type === 'function' && typeof type.prototype === 'object' && type.prototype !== null;
  return hasPrototype ? (type as Type) : undefined;
}

/** Asks its prototype, since a value may be anything, such as a proxy that lets nobody read it yet. */
function constructorOf(instance: unknown): unknown {
  if (typeof instance !== 'object' || instance === null) return undefined;
  const prototype = Object.getPrototypeOf(instance) as { constructor?: unknown } | null;
  return prototype === null || prototype === Object.prototype ? undefined : prototype.constructor;
}
