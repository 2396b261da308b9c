import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { chat } from '../../../apps/demo/src/chat/chat.scenario.js';
import type { Platform } from '../../../apps/demo/src/create-demo.js';
import { RunningDemo } from './running-demo.js';

const ROOT = join(__dirname, '../../..');
const PLATFORMS: Platform[] = ['express', 'fastify'];

/** Runs a line of Node as a shell at the top of the repository would. */
async function run(line: string): Promise<string> {
  const [program, ...words] = line.split(' ');
  if (program !== 'node') throw new Error(`Not a line of Node: ${line}`);
  const child = spawn(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const [exitCode] = (await once(child, 'close')) as [number];
  if (exitCode !== 0) throw new Error(`It ended with ${exitCode} after: ${printed}`);
  return printed;
}

describe.each(PLATFORMS)('the chat of the demo on %s', (platform) => {
  let demo: RunningDemo;
  beforeEach(async () => {
    demo = await RunningDemo.start(platform);
  });
  afterEach(() => demo.stop());

  it('lets a user have three connections, and a fourth when one has left', async () => {
    const [line] = chat.commands(demo.url).map((command) => command.line);
    const expected = [
      'connection 1: said (hello)',
      'connection 2: said (hello)',
      'connection 3: said (hello)',
      'connection 4: refused (Too many requests.)',
      'connection 1: said (still here)',
      'connection 1 leaves',
      'connection 4: said (hello)',
      '',
    ].join('\n');
    expect(await run(line!)).toBe(expected);
    // All have left: whoever comes next finds everything free again.
    expect(await run(line!.replace('paula', 'fred'))).toBe(expected);
    expect(await run(line!)).toBe(expected);
  });
});
