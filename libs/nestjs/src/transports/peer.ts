import type { HandlingContext } from '../context/handling-context.js';
import { grpcCallOf } from './grpc-call.js';
import { rawRequest, rawResponse } from '../http/raw-http.js';
import type { ApplicationValue } from '../context/rate-limiting-context.js';
import { SubscriptionPeer } from './subscription-peer.js';

/** The other end of a handling that isn't HTTP's own: what tells that the client has left. */
export interface Peer {
  once(event: string, listener: () => void): unknown;
  on?(event: string, listener: () => void): unknown;
  /** Socket.IO. */
  readonly disconnected?: boolean;
  disconnect?(): unknown;
  /** `ws`; with sockets of Node it is a word. */
  readonly readyState?: number | string;
  /** Sockets, streams and responses of Node. */
  readonly destroyed?: boolean;
  /** TCP microservices. */
  readonly isClosed?: boolean;
  /** Calls of gRPC. */
  readonly cancelled?: boolean;
}

const CLOSING = 2;

/** Whether a client has left already, so that no event will come. */
export function hasLeft(peer: Peer): boolean {
  // A stream of gRPC is destroyed by its ordinary end as well.
  if (peer.cancelled !== undefined) return peer.cancelled;
  if (peer.disconnected === true || peer.destroyed === true || peer.isClosed === true) return true;
  return typeof peer.readyState === 'number' && peer.readyState >= CLOSING;
}

/** Calls back once, when the client has left; at once, if it has already. */
export function onLeft(peer: Peer, leave: () => void): void {
  if (hasLeft(peer)) leave();
  else peer.once(endOf(peer), leave);
}

/** The event that tells that a client has left. */
function endOf(peer: Peer): string {
  if (peer.cancelled !== undefined) return 'cancelled';
  return peer.disconnect === undefined ? 'close' : 'disconnect';
}

/** The other ends, where the transport shows them: the connection, and a subscription that may end before it. */
export function peersOf(context: HandlingContext): readonly Peer[] {
  const peer = candidateOf(context);
  const connections = typeof peer?.once === 'function' ? [peer] : [];
  const subscription = SubscriptionPeer.of(context);
  return subscription === undefined ? connections : [...connections, subscription];
}

function candidateOf({ type, request, response, execution }: HandlingContext): Peer | undefined {
  if (type === 'ws') return request as Peer | undefined;
  // Of the transports only TCP has a connection per client, and gRPC a call; others have one to their broker.
  if (type === 'rpc') return (request as TcpContext | undefined)?.getSocketRef?.() ?? grpcCallOf(execution);
  if (typeof request !== 'object' || request === null) return undefined;
  return socketOf(request) ?? responsePeer(response) ?? requestPeer(request);
}

/** The WebSocket of a GraphQL operation, by graphql-ws. */
export function socketOf(request: ApplicationValue): Peer | undefined {
  return (request as { extra?: { socket?: Peer } } | undefined)?.extra?.socket;
}

function responsePeer(response: ApplicationValue): Peer | undefined {
  return typeof response === 'object' && response !== null ? rawResponse(response) : undefined;
}

/** HTTP/2 has a stream per request. */
function requestPeer(request: ApplicationValue): Peer | undefined {
  const { stream, socket } = rawRequest(request) as { stream?: Peer; socket?: Peer };
  return stream ?? socket;
}

interface TcpContext {
  getSocketRef?(): Peer | undefined;
}
