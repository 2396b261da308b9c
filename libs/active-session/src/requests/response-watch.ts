import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Called when a response has ended: whether all of a successful one was sent. */
export type ResponseListener = (isAnswered: boolean) => void;

const FIRST_ERROR = 400;

/**
 * Tells when responses have ended. Only the response's `close` is reliable, but a pipelined response whose turn
 * never came has none: then only the socket's tells. It has one listener per connection.
 */
export class ResponseWatch {
  readonly #ends = new WeakMap<Socket, Set<() => void>>();

  /** Calls the listener once; at once where the response has ended already. */
  watch(request: object, response: object, listener: ResponseListener): void {
    const rawRequest = raw(request) as IncomingMessage;
    const rawResponse = raw(response) as ServerResponse;
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      listener(isSent(rawRequest, rawResponse) && rawResponse.statusCode < FIRST_ERROR);
    };
    if (typeof rawResponse.once !== 'function') return end();
    if (isGone(rawRequest, rawResponse)) return end();
    const companions = isHttp2(rawRequest) ? undefined : this.#endsOf(rawRequest.socket);
    companions?.add(end);
    rawResponse.once('close', () => {
      companions?.delete(end);
      end();
    });
    // A stream that is canceled without an error code may never close.
    if (isHttp2(rawRequest)) rawRequest.once('aborted', end);
  }

  #endsOf(socket: Socket): Set<() => void> {
    const known = this.#ends.get(socket);
    if (known !== undefined) return known;
    const ends = new Set<() => void>();
    this.#ends.set(socket, ends);
    socket.once('close', () => {
      for (const end of ends) end();
      ends.clear();
    });
    return ends;
  }
}

/** Node's own object behind Express's or Fastify's. */
function raw(object: object): object {
  return (object as { raw?: object }).raw ?? object;
}

function isHttp2({ httpVersionMajor }: IncomingMessage): boolean {
  return httpVersionMajor >= 2;
}

/** Whether all of a response was sent. Over HTTP/2 one that was canceled is finished as well. */
function isSent(request: IncomingMessage, response: ServerResponse): boolean {
  return response.writableFinished && !(isHttp2(request) && request.aborted);
}

/** No event will come any more. HTTP/2 takes the socket away with its session. */
function isGone(request: IncomingMessage, response: ServerResponse): boolean {
  const socket = request.socket as Socket | undefined;
  return response.destroyed || response.closed || socket === undefined || socket.destroyed;
}
