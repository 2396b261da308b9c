import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Socket } from 'node:net';
import { isHttp2, rawRequest, rawResponse } from '../http/raw-http.js';
import type { ClientWatch } from './client-watch.js';
import type { Holder } from './holder.js';

/**
 * Tells holders that their response has ended. Only the response's `close` is reliable (the request's fires when
 * its body was read), but a pipelined response whose turn never came has none: then only the socket's tells. It
 * has one listener per connection, for any number of requests.
 */
export class ConnectionWatch implements ClientWatch {
  readonly #holders = new WeakMap<Socket, Set<Holder>>();

  /** Watches the request and response of a holder, once; where they have ended already, tells it at once. */
  watch(holder: Holder): void {
    if (holder.isWatched) return;
    holder.isWatched = true;
    const response = rawResponse(holder.context.response);
    const request = rawRequest(holder.context.request);
    if (isGone(request, response)) {
      holder.close(isSent(request, response));
      return;
    }
    const companions = isHttp2(request) ? undefined : this.#holdersOf(request.socket);
    companions?.add(holder);
    if (isBehind(response)) this.#watchBehind(holder, response);
    response.once('close', () => {
      companions?.delete(holder);
      holder.close(isSent(request, response));
    });
    if (isHttp2(request)) endCanceled(request);
  }

  /**
   * A request begins to wait for permits. Those behind it on its connection can't send their responses before, and so
   * it might wait for ever for permits that they hold: where their work is done, they give them up.
   */
  beginWait(holder: Holder): void {
    if (isBehind(rawResponse(holder.context.response))) return;
    for (const other of this.#companionsOf(holder)) {
      if (isBehind(rawResponse(other.context.response))) other.giveUp();
    }
  }

  isBlocked(holder: Holder): boolean {
    if (!isBehind(rawResponse(holder.context.response))) return false;
    for (const other of this.#companionsOf(holder)) {
      if (other.isWaiting && !isBehind(rawResponse(other.context.response))) return true;
    }
    return false;
  }

  look(holder: Holder): void {
    const { request, response } = holder.context;
    if (isGone(rawRequest(request), rawResponse(response))) holder.close(false);
  }

  forget(): void {
    // Its response may come long after its work.
  }

  /** A response that was handed over before its turn is done with: the rest is up to those before it. */
  #watchBehind(holder: Holder, response: ServerResponse): void {
    const end = response.end.bind(response) as (...parts: unknown[]) => ServerResponse;
    response.end = (...parts: unknown[]) => {
      end(...parts);
      if (isBehind(response)) holder.close(true);
      return response;
    };
    response.once('socket', () => {
      if (holder.isWaiting) this.beginWait(holder);
    });
  }

  #companionsOf({ context }: Holder): Iterable<Holder> {
    return this.#holders.get(rawRequest(context.request).socket) ?? [];
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

/** Whether other responses of its connection come first (HTTP/1 pipelining): it has no socket of its own yet. */
function isBehind({ socket }: ServerResponse): boolean {
  return socket === null;
}

/** Whether all of a response was sent. Over HTTP/2 one that was canceled is finished as well. */
function isSent(request: IncomingMessage, response: ServerResponse): boolean {
  return response.writableFinished && !(isHttp2(request) && request.aborted);
}

/**
 * A stream of HTTP/2 that its client cancels without an error code stays until what is written has been taken, which
 * nobody does any more: Node tells the end of it to nobody, not even when its session has ended. With a code it ends at
 * once, and so it does here.
 */
function endCanceled(request: IncomingMessage): void {
  request.once('aborted', () => {
    const { stream } = request as unknown as Http2ServerRequest;
    // Not within the event: Node has yet to close the stream.
    process.nextTick(() => stream.destroy());
  });
}

/**
 * A client that left before we looked: no event will come. A response that has closed is destroyed too; HTTP/2 takes the
 * socket away with its session.
 */
function isGone(request: IncomingMessage, response: ServerResponse): boolean {
  const socket = request.socket as Socket | undefined;
  return response.destroyed || socket === undefined || socket.destroyed;
}
