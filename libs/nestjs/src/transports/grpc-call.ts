import type { ExecutionContext } from '@nestjs/common';
import type { Peer } from './peer.js';

/** The metadata of gRPC, which no package here depends on. */
export interface GrpcMetadata {
  set(key: string, value: string): void;
}

/** A call of gRPC on the server's side, as far as it is needed here. */
export interface GrpcCall extends Peer {
  readonly cancelled: boolean;
  readonly metadata: GrpcMetadata;
  sendMetadata(metadata: GrpcMetadata): void;
  emit?(event: 'error', error: object): unknown;
}

/** Tells the client of a call that has no stream for answers how the call has ended. */
type Answer = (error: object) => void;

/** The call that a handler of a microservice belongs to; `undefined` for other transports. */
export function grpcCallOf(execution: ExecutionContext): GrpcCall | undefined {
  const call = execution.getArgByIndex<unknown>(2);
  return isGrpcCall(call) ? call : passedOnCallOf(execution);
}

/** The call of `@GrpcStreamCall()`, whose handler gets nothing else, and answers by itself. */
export function passedOnCallOf(execution: ExecutionContext): GrpcCall | undefined {
  const call = execution.getArgByIndex<unknown>(0);
  return isGrpcCall(call) ? call : undefined;
}

/**
 * Ends a call whose handler would have answered by itself: Nest tells its client nothing of what a guard or an interceptor
 * throws, and nobody handles what is thrown, which ends the process.
 */
export function endPassedOn(call: GrpcCall, execution: ExecutionContext, error: object): void {
  const answer = execution.getArgByIndex<Answer | undefined>(1);
  if (typeof answer === 'function') answer(error);
  else call.emit?.('error', error);
}

function isGrpcCall(value: unknown): value is GrpcCall {
  const call = value as Partial<GrpcCall> | null | undefined;
  return typeof call?.sendMetadata === 'function' && typeof call.cancelled === 'boolean';
}
