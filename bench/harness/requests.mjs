import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** So many clients, each with an address and a connection of its own. */
export const CLIENTS = 32;
/** Timers and the like get their turn as often as under load. */
const REQUESTS_PER_TURN = 256;

/**
 * Hands requests to a server as Node's parser would, one after the other. What sockets and parser cost is the same
 * whatever the server does, many times what is to be measured, and the noisiest part of all.
 *
 * @param {import('node:http').Server} server
 * @param {string} path
 */
export function requestsTo(server, path) {
  const sockets = Array.from({ length: CLIENTS }, (_, number) => clientSocket(`127.0.0.${number + 1}`));
  let at = 0;
  return {
    /** @returns {Promise<Record<string, number>>} how many responses had which status */
    async send(count) {
      const statuses = {};
      for (let sent = 0; sent < count; sent++) {
        const status = await exchange(server, sockets[at++ % CLIENTS], path);
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (sent % REQUESTS_PER_TURN === 0) await nextTurn();
      }
      return statuses;
    },
  };
}

let whenEnded = null;

// Without a socket a response never says that it has finished. The next request comes once what the ticks before had to
// do is done, as after each callback of a parser: from microtask to microtask no tick would get its turn, and hundreds of
// requests would live, and grow old, together. On the prototype, because with a function of its own each response, and
// all it leads to, outlived the collections of young objects: 3 KB a request on Fastify, 16 on Express.
const { end } = ServerResponse.prototype;
ServerResponse.prototype.end = function endAndTell(...body) {
  const ended = whenEnded;
  whenEnded = null;
  if (ended !== null) process.nextTick(ended, this.statusCode);
  return end.apply(this, body);
};

function clientSocket(address) {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
}

function exchange(server, socket, path) {
  return new Promise((resolve) => {
    const request = new IncomingMessage(socket);
    Object.assign(request, {
      method: 'GET',
      url: path,
      httpVersionMajor: 1,
      httpVersionMinor: 1,
      complete: true,
    });
    request.httpVersion = '1.1';
    request.headers = { host: 'localhost' };
    request.rawHeaders = ['Host', 'localhost'];
    request.push(null);
    const response = new ServerResponse(request);
    whenEnded = resolve;
    server.emit('request', request, response);
  });
}

/** @returns {number} microseconds of processor time of this process, all of its threads */
export function readProcessUs() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
