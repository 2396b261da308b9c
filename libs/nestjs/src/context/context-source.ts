import type { ExecutionContext } from '@nestjs/common';
import { rawRequest } from '../http/raw-http.js';
import { passedOnCallOf } from '../transports/grpc-call.js';
import type { ApplicationValue, RateLimitingContextType } from './rate-limiting-context.js';

/**
 * Where a kind of execution context keeps its request. Arguments are read by index: `switchToHttp()` assigns three
 * new functions at each call.
 */
export function requestOf(execution: ExecutionContext, type: RateLimitingContextType): ApplicationValue {
  if (type === 'http' || type === 'ws') return execution.getArgByIndex(0);
  if (type === 'rpc') return passedOnCallOf(execution)?.metadata ?? execution.getArgByIndex(1);
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
  const source = request as RequestSource | undefined;
  const address = source?.ip ?? source?.handshake?.address ?? socketOf(source)?.remoteAddress;
  return typeof address === 'string' && address !== '' ? address : undefined;
}

function socketOf(source: RequestSource | undefined): AddressedSocket | undefined {
  return source?._socket ?? source?.extra?.request?.socket;
}

/** The user as authentication left it: on a request, or on a connection when that was opened. */
export function userOf(request: ApplicationValue, type: RateLimitingContextType): ApplicationValue {
  const source = request as RequestSource | undefined;
  return source?.user ?? (source == null ? undefined : userOfConnection(source, type));
}

function userOfConnection({ data, extra }: RequestSource, type: RateLimitingContextType): ApplicationValue {
  if (type === 'ws') return data?.user;
  return type === 'graphql' ? (extra?.user ?? extra?.request?.user) : undefined;
}

/** The header fields of a request, or of the one that opened a connection; `undefined` where they aren't known. */
export function headersOf(request: ApplicationValue): HeaderFields | undefined {
  const source = request as RequestSource | undefined;
  return source?.headers ?? source?.handshake?.headers ?? source?.extra?.request?.headers;
}

/** Header fields by their names in small letters. */
export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

interface RequestSource {
  /** Express and Fastify. */
  readonly ip?: unknown;
  readonly headers?: HeaderFields;
  readonly user?: ApplicationValue;
  /** socket.io. */
  readonly handshake?: { readonly address?: unknown; readonly headers?: HeaderFields };
  readonly data?: { readonly user?: ApplicationValue } | null;
  /** ws. */
  readonly _socket?: AddressedSocket;
  /** graphql-ws: what `onConnect` left there, and the request that opened the connection. */
  readonly extra?: {
    readonly user?: ApplicationValue;
    readonly request?: {
      readonly socket?: AddressedSocket;
      readonly headers?: HeaderFields;
      readonly user?: ApplicationValue;
    };
  };
}

interface AddressedSocket {
  readonly remoteAddress?: unknown;
}
