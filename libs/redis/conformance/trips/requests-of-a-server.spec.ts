import { createPartitionedRateLimiter } from '@ratelease/limiters';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { createRedisPartitions } from '../../src/index.js';
import { CLIENTS } from '../../../../test/redis/clients.js';
import { TestServer } from '../../../../test/redis/test-server.js';

const CONNECTIONS = 24;

const server = TestServer.forThisFile();

/** Sends a request on each of the connections at once, and reads the answers. */
async function askOnAll(sockets: readonly Socket[]): Promise<string[]> {
  const answers = sockets.map((socket) => once(socket, 'data'));
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  return (await Promise.all(answers)).map(([bytes]) => String(bytes).slice(0, 'HTTP/1.1 200'.length));
}

describe.each(CLIENTS)('requests to a server, on a connection each, through $name', ({ open }) => {
  it('are decided together where they are read in one turn of the event loop', async () => {
    const opened = await open(server.port);
    const shared = createRedisPartitions({ client: opened.client, commandTimeoutMs: 10_000 });
    const limiter = createPartitionedRateLimiter((key: string) =>
      shared.getFixedWindowLimiter(key, () => ({ permitLimit: 1_000, windowMs: 60_000 })),
    );
    let asked = 0;
    const http = createServer((_request, response) => {
      const asking = limiter.acquire(`client ${asked++ % CONNECTIONS}`);
      void asking.then((lease) => response.writeHead(lease.isAcquired ? 200 : 429).end());
    });
    await once(http.listen(0, '127.0.0.1'), 'listening');
    const { port } = http.address() as AddressInfo;
    const sockets = Array.from({ length: CONNECTIONS }, () => connect(port, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    await askOnAll(sockets);

    const calls = await server.callsOf(async () => {
      expect(new Set(await askOnAll(sockets))).toEqual(new Set(['HTTP/1.1 200']));
    });
    // One, unless the system hands over what was sent bit by bit; alone they would be as many as requests.
    expect(calls).toBeLessThanOrEqual(CONNECTIONS / 3);

    for (const socket of sockets) socket.destroy();
    http.close();
    await shared.dispose();
    await opened.close();
  });
});
