/** A client of Socket.IO or of `ws`, as far as a refused connection needs it. */
export interface SocketClient {
  once(event: string, listener: () => void): unknown;
  /** Socket.IO. */
  readonly disconnected?: boolean;
  emit(event: string, data: object): unknown;
  disconnect?(): unknown;
  /** `ws`. */
  readonly readyState?: number;
  send?(text: string): unknown;
  close?(code: number, reason: string): unknown;
}

const CLOSING = 2;
/** "Try again later", and "internal error" (RFC 6455 and its registry). */
const CODES = { refused: 1013, broken: 1011 } as const;

/** Calls back once, when the client has left; at once, if it has already. */
export function onLeft(client: SocketClient, leave: () => void): void {
  const isSocketIo = client.disconnect !== undefined;
  if (client.disconnected === true || (client.readyState ?? 0) >= CLOSING) leave();
  else client.once(isSocketIo ? 'disconnect' : 'close', leave);
}

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
