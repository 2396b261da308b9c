import type { ExecutionContext } from '@nestjs/common';
import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import { seconds } from '../http/policy-item.js';
import { RateLimitRejectedException } from '../rejection/rate-limit-rejected.exception.js';
import type { GrpcMetadata } from './grpc-call.js';
import { endPassedOn, grpcCallOf, passedOnCallOf } from './grpc-call.js';
import { handlesEvent } from './event-pattern.js';
import { rpcExceptionOf, wsExceptionOf } from './peer-exceptions.js';

/** What a refused client is told outside HTTP. */
export interface TransportRefusal {
  /** The status that the refusal has over HTTP. */
  readonly code: number;
  /** What happened, for people. */
  readonly message: string;
  /** The policy that refused. */
  readonly policy: string;
  /** Whole seconds, at least 1, until the same request could pass; absent where nobody knows. */
  readonly retryAfter?: number;
}

/** The code of a refusal in the `extensions` of a GraphQL error. */
const GRAPHQL_CODE = 'TOO_MANY_REQUESTS';
/** The same while the service can't answer at all: its store is away, or it ends. */
const GRAPHQL_UNAVAILABLE = 'SERVICE_UNAVAILABLE';
const UNAVAILABLE = 503;
/** What gRPC calls both. */
const GRPC_RESOURCE_EXHAUSTED = 8;
const GRPC_UNAVAILABLE = 14;
const GRPC_INTERNAL = 13;
/** What clients are told of errors that aren't for them. */
const BROKEN = { code: GRPC_INTERNAL, message: 'Internal server error' };

/**
 * The error that a transport understands in place of a refusal: elsewhere than over HTTP an `HttpException` is an
 * internal error to the client. Other errors stay as they are; and the refusal of an event, too, which no client hears
 * of: Nest writes every `RpcException` of an event's handler into the log, as a fault with its stack.
 */
export async function asTransportError(
  error: unknown,
  { type, handler, execution }: Pick<RateLimitingContext, 'type' | 'handler' | 'execution'>,
): Promise<unknown> {
  if (!(error instanceof RateLimitRejectedException)) return error;
  const refusal = refusalOf(error);
  if (type === 'ws') return wsExceptionOf({ status: 'error', ...refusal }, error);
  if (type === 'rpc')
    return handlesEvent(handler) ? error : rpcExceptionOf(withStatus(refusal, execution), error);
  return type === 'graphql' ? withExtensions(error, refusal) : error;
}

/** Tells an error to the client of a call that nobody else would tell it. @returns whether it is one. */
export function answerPassedOn(
  error: unknown,
  { type, execution }: Pick<RateLimitingContext, 'type' | 'execution'>,
): boolean {
  const call = type === 'rpc' ? passedOnCallOf(execution) : undefined;
  if (call === undefined) return false;
  const refusal = (error as { getError?(): unknown } | undefined)?.getError?.();
  endPassedOn(call, execution, typeof refusal === 'object' && refusal !== null ? refusal : BROKEN);
  return true;
}

/** A refusal as data. */
function refusalOf(rejection: RateLimitRejectedException): TransportRefusal {
  const { message, policyName, retryAfterMs } = rejection;
  const refusal = { code: rejection.getStatus(), message, policy: policyName };
  return retryAfterMs === undefined
    ? refusal
    : { ...refusal, retryAfter: Math.max(1, seconds(retryAfterMs)) };
}

/**
 * gRPC has codes of its own, which its clients know what to do about, and sends nothing else of an error than code,
 * message and metadata.
 */
function withStatus(refusal: TransportRefusal, execution: ExecutionContext): object {
  const call = grpcCallOf(execution);
  if (call === undefined) return refusal;
  const code = refusal.code === UNAVAILABLE ? GRPC_UNAVAILABLE : GRPC_RESOURCE_EXHAUSTED;
  const metadata = new (call.metadata.constructor as new () => GrpcMetadata)();
  if (refusal.retryAfter !== undefined) metadata.set('retry-after', String(refusal.retryAfter));
  return { ...refusal, code, metadata };
}

/** GraphQL servers take the `extensions` of what a resolver throws. */
function withExtensions(error: RateLimitRejectedException, refusal: TransportRefusal): Error {
  const { code: status, message: _message, ...rest } = refusal;
  const code = status === UNAVAILABLE ? GRAPHQL_UNAVAILABLE : GRAPHQL_CODE;
  return Object.assign(error, { extensions: { code, status, ...rest } });
}
