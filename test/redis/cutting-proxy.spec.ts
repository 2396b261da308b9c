import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { CuttingProxy } from './cutting-proxy.js';

test('answers keep their order where they are no longer late', async () => {
  const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const proxy = await CuttingProxy.start((echo.address() as AddressInfo).port);
  const client = connect(proxy.port, '127.0.0.1');
  let heard = '';
  const hasHeard = new Promise<void>((resolve) => {
    client.on('data', (data) => {
      heard += data.toString();
      if (heard.length === 3) resolve();
    });
  });
  client.write('1');
  await once(client, 'data');
  proxy.delayMs = 300;
  client.write('2');
  // It has come back to the proxy, and is held up there.
  await new Promise((resolve) => setTimeout(resolve, 100));
  proxy.delayMs = 0;
  client.write('3');
  await hasHeard;
  expect(heard).toBe('123');
  client.destroy();
  proxy.stop();
  echo.close();
});
