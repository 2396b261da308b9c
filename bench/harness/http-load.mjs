// Sends requests to a server as fast as it answers: connections that are kept, one request at a time on each.
import { connect } from 'node:net';

/** Each connection comes from an address of its own, so that there is a client for each. */
const CONNECTIONS = 32;
const LENGTH = /content-length: (\d+)/i;

/** Connections to a server that can be used again and again. */
export async function openConnections(port, path) {
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const connections = [];
  for (let number = 1; number <= CONNECTIONS; number++) {
    connections.push(await openConnection(port, `127.0.0.${number}`, request));
  }
  return {
    /** @returns {Promise<Record<string, number>>} how many responses had which status */
    async send(count) {
      const statuses = {};
      let left = count;
      const next = () => left-- > 0;
      await Promise.all(connections.map((connection) => connection.send(next, statuses)));
      return statuses;
    },
    /** The first response, for its header fields. */
    first: () => connections[0].once(),
    close() {
      for (const connection of connections) connection.close();
    },
  };
}

async function openConnection(port, localAddress, request) {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.setNoDelay(true);
  let onAnswer;
  let onEnd;
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    received += chunk;
    const end = received.indexOf('\r\n\r\n');
    if (end === -1 || received.length < end + 4 + Number(LENGTH.exec(received)?.[1] ?? 0)) return;
    const answer = received;
    received = '';
    onAnswer(answer);
  });
  // Whoever waits for an answer then would wait for ever.
  socket.once('close', () => onEnd?.(new Error('The server has closed a connection.')));
  const once = () =>
    new Promise((resolve, reject) => {
      onAnswer = resolve;
      onEnd = reject;
      socket.write(request);
    });
  return {
    once,
    async send(next, statuses) {
      while (next()) {
        const answer = await once();
        const status = answer.slice(9, 12);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    },
    close: () => socket.destroy(),
  };
}
