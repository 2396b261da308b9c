import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redisExecutable } from '../programs/redis-executable.js';

const PROGRAM = `
const { spawn } = require('node:child_process');
const [sh, redis, port] = process.argv.slice(2);
const server = spawn('sh', [sh, redis, '--port', port, '--save', '', '--unixsocket', process.cwd() + '/socket'], { stdio: ['pipe', 'pipe', 'ignore'] });
let text = '';
server.stdout.on('data', (data) => {
  text += data;
  if (text.includes('eady to accept') || text.includes('ailed')) process.send(Number(/pid (\\d+)/.exec(text)[1]));
});
`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('a server ends with the process that started it, also where that is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ratelease-orphan-'));
  const program = join(folder, 'program.js');
  writeFileSync(program, PROGRAM);
  // Port 0: no connections over TCP, so no port can be taken already.
  const args = [join(__dirname, 'with-parent.sh'), redisExecutable(), '0'];
  const parent = fork(program, args, { execArgv: [], cwd: folder });
  const [pid] = (await once(parent, 'message')) as [number];
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
  rmSync(folder, { recursive: true });
});
