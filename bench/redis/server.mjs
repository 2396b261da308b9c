// A Redis server of a contestant's own, on the loopback, that ends with the contestant's process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const WITH_PARENT = fileURLToPath(new URL('../../test/redis/with-parent.sh', import.meta.url));

/** @returns {Promise<{ port: number, pid: number }>} a server that accepts connections */
export async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), 'ratelease-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const options = [
    '--port',
    port,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ];
  const child = spawn('sh', [WITH_PARENT, 'redis-server', ...options.map(String)], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let pid;
  for await (const line of createInterface({ input: child.stdout })) {
    pid ??= Number(/^pid (\d+)$/.exec(line)?.[1]);
    if (line.includes('Ready to accept connections')) {
      child.stdout.resume();
      return { port, pid };
    }
  }
  throw new Error(
    'This workload starts a redis-server of its own, but there is none on the PATH, or it did not start. ' +
      'Install it (Debian, Ubuntu: "apt-get install redis-server"; macOS: "brew install redis").',
  );
}

async function freePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
