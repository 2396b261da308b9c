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
    // Without a socket it never says that it has finished.
    const { end } = response;
    response.end = (...body) => {
      queueMicrotask(() => resolve(response.statusCode));
      return end.apply(response, body);
    };
    server.emit('request', request, response);
  });
}

/** @returns {number} microseconds of processor time of this process, all of its threads */
export function readProcessUs() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
