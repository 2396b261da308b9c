import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isHttp2, rawRequest, rawResponse } from '../http/raw-http.js';
import type { Holder } from './holder.js';

/**
 * Tells holders that their response has ended. Only the response's `close` is reliable (the request's fires when
 * its body was read), but a pipelined response whose turn never came has none: then only the socket's tells. It
 * has one listener per connection, for any number of requests.
 */
export class ConnectionWatch {
  readonly #holders = new WeakMap<Socket, Set<Holder>>();

  /** Watches the request and response of a holder, once; where they have ended already, tells it at once. */
  watch(holder: Holder): void {
    if (holder.isWatched) return;
    holder.isWatched = true;
    const response = rawResponse(holder.context.response);
    const request = rawRequest(holder.context.request);
    if (isGone(request, response)) {
      holder.close(response.writableFinished);
      return;
    }
    const companions = isHttp2(request) ? undefined : this.#holdersOf(request.socket);
    companions?.add(holder);
    response.once('close', () => {
      companions?.delete(holder);
      holder.close(response.writableFinished);
    });
  }

  /** Whether the client of a holder has left. */
  hasLeft({ context }: Holder): boolean {
    return isGone(rawRequest(context.request), rawResponse(context.response));
  }

  #holdersOf(socket: Socket): Set<Holder> {
    const known = this.#holders.get(socket);
    if (known !== undefined) return known;
    const holders = new Set<Holder>();
    this.#holders.set(socket, holders);
    socket.once('close', () => {
      for (const holder of holders) holder.close(false);
      holders.clear();
    });
    return holders;
  }
}

/** A client that left before we looked: no event will come. HTTP/2 takes the socket away with its session. */
function isGone(request: IncomingMessage, response: ServerResponse): boolean {
  const socket = request.socket as Socket | undefined;
  return response.destroyed || response.closed || socket === undefined || socket.destroyed;
}
