import type { Peer } from './peer.js';

/** A client of Socket.IO or of `ws`, as far as a refused connection needs it. */
export interface SocketClient extends Peer {
  /** Socket.IO. */
  emit(event: string, data: object): unknown;
  /** `ws`. */
  send?(text: string): unknown;
  close?(code: number, reason: string): unknown;
}

/** "Try again later", and "internal error" (RFC 6455 and its registry). */
const CODES = { refused: 1013, broken: 1011 } as const;

/** Tells a client why, by the event that refused messages have too, and ends its connection. */
export function turnAway(client: SocketClient, reason: object, kind: keyof typeof CODES): void {
  if (client.disconnect !== undefined) {
    client.emit('exception', reason);
    client.disconnect();
    return;
  }
  client.send?.(JSON.stringify({ event: 'exception', data: reason }));
  client.close?.(CODES[kind], kind === 'refused' ? 'Too many connections.' : 'Internal error.');
}
