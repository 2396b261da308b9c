import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { connect, createServer } from 'node:net';
import { firstGivenOut, freePort } from './free-port.js';

let server: Server;
let port: number;
beforeAll(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => void server.close());

test('a free port is none of those that the system gives to clients and servers', async () => {
  const client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  expect(Math.min(client.localPort!, port)).toBeGreaterThanOrEqual(firstGivenOut());
  expect(await freePort()).toBeLessThan(firstGivenOut());
  client.destroy();
});

test('one on which somebody listens is passed over', async () => {
  const free = await freePort();
  const tried = [port, free, free + 1, free + 2, free + 3];
  expect(await freePort(() => tried.shift()!)).toBeGreaterThan(free);
});

test('none is given twice, also to those who ask at once', async () => {
  const ports = await Promise.all(Array.from({ length: 300 }, () => freePort()));
  expect(new Set(ports).size).toBe(300);
});
