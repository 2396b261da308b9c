import type { ExecutionContext } from '@nestjs/common';
import type { RateLimitingContext } from '@ratelease/nestjs';

/** A value whose type only the application knows. */
// oxlint-disable-next-line typescript/no-explicit-any
export type ApplicationValue = any;

/** The handling of a request, as far as sessions have to know it. */
export interface Handling {
  /** The framework's request, the client of a WebSocket, the transport's context. */
  readonly request: ApplicationValue;
  /** The framework's response, where there is one. */
  readonly response: ApplicationValue;
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  readonly handler: Function | undefined;
  /** Stands for the handling, the same object however often it is asked about. */
  readonly identity: object;
}

/** Reads either kind of context. */
export function handlingOf(context: RateLimitingContext | ExecutionContext): Handling {
  if ('execution' in context) {
    const { request, response, handler, execution } = context;
    return { request, response, handler, identity: identityOf(request, response, execution) };
  }
  const { request, response } = sourceOf(context);
  return {
    request,
    response,
    handler: context.getHandler(),
    identity: identityOf(request, response, context),
  };
}

function sourceOf(execution: ExecutionContext): { request: ApplicationValue; response: ApplicationValue } {
  const type: string = execution.getType();
  if (type === 'http') return { request: execution.getArgByIndex(0), response: execution.getArgByIndex(1) };
  if (type === 'ws') return { request: execution.getArgByIndex(0), response: undefined };
  if (type === 'rpc') return { request: execution.getArgByIndex(1), response: undefined };
  const shared = execution.getArgByIndex<GraphqlContext | undefined>(2);
  const request = shared?.req ?? shared?.request;
  return { request, response: shared?.res ?? request?.res };
}

interface GraphqlContext {
  readonly req?: ApplicationValue;
  readonly request?: ApplicationValue;
  readonly res?: ApplicationValue;
}

/** The raw request where a response belongs to it; a client sends many messages, each with arguments of its own. */
function identityOf(
  request: ApplicationValue,
  response: ApplicationValue,
  execution: ExecutionContext,
): object {
  if (response === undefined || response === null || typeof request !== 'object') return execution.getArgs();
  return (request as { raw?: object }).raw ?? (request as object);
}
