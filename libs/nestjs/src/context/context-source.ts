import type { ExecutionContext } from '@nestjs/common';
import { rawRequest } from '../http/raw-http.js';
import type { ApplicationValue, RateLimitingContextType } from './rate-limiting-context.js';

/**
 * Where a kind of execution context keeps its request. Arguments are read by index: `switchToHttp()` assigns three
 * new functions at each call.
 */
export function requestOf(execution: ExecutionContext, type: RateLimitingContextType): ApplicationValue {
  if (type === 'http' || type === 'ws') return execution.getArgByIndex(0);
  if (type === 'rpc') return execution.getArgByIndex(1);
  const shared = execution.getArgByIndex<GraphqlContext | undefined>(2);
  return shared?.req ?? shared?.request;
}

/** Where it keeps its response; `undefined` where there is none. */
export function responseOf(execution: ExecutionContext, type: RateLimitingContextType): ApplicationValue {
  if (type === 'http') return execution.getArgByIndex(1);
  if (type === 'ws' || type === 'rpc') return undefined;
  return (
    execution.getArgByIndex<GraphqlContext | undefined>(2)?.res ??
    (requestOf(execution, type) as { res?: ApplicationValue } | undefined)?.res
  );
}

interface GraphqlContext {
  readonly req?: ApplicationValue;
  readonly request?: ApplicationValue;
  readonly res?: ApplicationValue;
}

/**
 * The object that stands for one handling, the same one for guards and interceptors: the raw request, or, where
 * a connection carries many messages, the array of the handler's arguments that Nest makes for each.
 */
export function handlingIdentity(execution: ExecutionContext, type: RateLimitingContextType): object {
  if (type !== 'http') return execution.getArgs();
  return rawRequest(execution.getArgByIndex(0));
}

/** The address as the kind of request has it, not yet in its normal spelling. */
export function addressOf(request: ApplicationValue): string | undefined {
  const source = request as AddressSource | undefined;
  const address = source?.ip ?? source?.handshake?.address ?? socketOf(source)?.remoteAddress;
  return typeof address === 'string' && address !== '' ? address : undefined;
}

function socketOf(source: AddressSource | undefined): AddressedSocket | undefined {
  return source?._socket ?? source?.extra?.request?.socket;
}

interface AddressSource {
  /** Express and Fastify. */
  readonly ip?: unknown;
  /** socket.io. */
  readonly handshake?: { readonly address?: unknown };
  /** ws. */
  readonly _socket?: AddressedSocket;
  /** graphql-ws: the request that opened the connection. */
  readonly extra?: { readonly request?: { readonly socket?: AddressedSocket } };
}

interface AddressedSocket {
  readonly remoteAddress?: unknown;
}
