import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { connectionOf } from './connection-of.js';

const CONFIRMED = '*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n';

/** A server that says yes to everything, but nothing to those who subscribe. */
const subscribers: Socket[] = [];
const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.on('data', (data) => {
    for (const command of data
      .toString()
      .split(/^\*\d+\r\n/m)
      .slice(1))
      if (command.includes('subscribe')) subscribers.push(socket);
      else socket.write('+OK\r\n');
  });
});
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => void server.close());

test('a channel counts as heard once the server has said so, on each connection anew', async () => {
  const { port } = server.address() as AddressInfo;
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => 1 });
  let heard = 0;
  const listener = {
    onMessage: () => undefined,
    onSubscribed: () => void heard++,
    onFailed: () => undefined,
  };
  const subscription = connectionOf(client).subscribe('news', listener);
  try {
    for (let connections = 1; connections <= 3; connections++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await until(() => subscribers.length >= connections);
      expect(heard).toBe(connections - 1);
      subscribers.at(-1)!.write(CONFIRMED);
      // oxlint-disable-next-line no-await-in-loop
      await until(() => heard === connections);
      subscribers.at(-1)!.destroy();
    }
  } finally {
    subscription.close();
  }
});

async function until(isSo: () => boolean): Promise<void> {
  const lastMs = performance.now() + 60_000;
  while (!isSo()) {
    expect(performance.now()).toBeLessThan(lastMs);
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    await new Promise(setImmediate);
  }
}
