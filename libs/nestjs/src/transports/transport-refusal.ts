import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import { seconds } from '../http/policy-item.js';
import { RateLimitRejectedException } from '../rejection/rate-limit-rejected.exception.js';
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

/**
 * The error that a transport understands in place of a refusal: elsewhere than over HTTP an `HttpException` is an
 * internal error to the client. Other errors stay as they are; and the refusal of an event, too, which no client hears
 * of: Nest writes every `RpcException` of an event's handler into the log, as a fault with its stack.
 */
export async function asTransportError(
  error: unknown,
  { type, handler }: Pick<RateLimitingContext, 'type' | 'handler'>,
): Promise<unknown> {
  if (!(error instanceof RateLimitRejectedException)) return error;
  const refusal = refusalOf(error);
  if (type === 'ws') return wsExceptionOf({ status: 'error', ...refusal }, error);
  if (type === 'rpc') return handlesEvent(handler) ? error : rpcExceptionOf(refusal, error);
  return type === 'graphql' ? withExtensions(error, refusal) : error;
}

/** A refusal as data. */
function refusalOf(rejection: RateLimitRejectedException): TransportRefusal {
  const { message, policyName, retryAfterMs } = rejection;
  const refusal = { code: rejection.getStatus(), message, policy: policyName };
  return retryAfterMs === undefined
    ? refusal
    : { ...refusal, retryAfter: Math.max(1, seconds(retryAfterMs)) };
}

/** GraphQL servers take the `extensions` of what a resolver throws. */
function withExtensions(error: RateLimitRejectedException, refusal: TransportRefusal): Error {
  const { code: status, message: _message, ...rest } = refusal;
  const code = status === UNAVAILABLE ? GRAPHQL_UNAVAILABLE : GRAPHQL_CODE;
  return Object.assign(error, { extensions: { code, status, ...rest } });
}
