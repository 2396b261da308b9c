import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCli } from './run-cli.js';

const LOG = join(__dirname, '../../../../test/e2e/simulate/fixtures/access.log');
const PER_IP = ['--policy', 'perIp=fixedWindow:30/1m,key=ip'];

async function run(
  args: readonly string[],
  input: Readable & { isTTY?: boolean } = Readable.from([]),
): Promise<{ code: number; stdout: string; stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = [text(stdout), text(stderr)] as const;
  const code = await runCli({ args, stdin: input, stdout, stderr, version: '1.2.3' });
  stdout.end();
  stderr.end();
  return { code, stdout: await texts[0], stderr: await texts[1] };
}

describe('the command', () => {
  it('explains itself', async () => {
    const { code, stdout } = await run(['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: ratelease-simulate');
    expect((await run(['-v'])).stdout).toBe('1.2.3\n');
  });

  it('explains every flag that it knows', async () => {
    const { stdout } = await run(['--help']);
    const source = readFileSync(join(__dirname, 'flags.ts'), 'utf8');
    const options = source.slice(source.indexOf('const OPTIONS')).split('} as const')[0]!;
    const flags = [...options.matchAll(/^  '?([a-z-]+)'?:/gm)].map(([, flag]) => flag!);
    expect(flags.length).toBeGreaterThan(15);
    // The fields of a log are explained by the first of them.
    const unexplained = flags.filter((flag) => !flag.endsWith('-field') && !stdout.includes(`--${flag}`));
    expect(unexplained).toEqual([]);
  });

  it('asks for a log instead of waiting for somebody to type one', async () => {
    const terminal = Object.assign(Readable.from([]), { isTTY: true });
    const { code, stderr } = await run(PER_IP, terminal);
    expect(code).toBe(2);
    expect(stderr).toContain('There is no log: name one');
  });

  it.each<[what: string, args: string[], code: number, message: string]>([
    ['an empty log', [...PER_IP], 0, 'The log is empty.'],
    ['a log that is none', [...PER_IP, '--format', 'json', LOG], 1, 'No line could be read: see --format.'],
    ['no such file', [...PER_IP, 'missing.log'], 1, "missing.log can't be read: ENOENT"],
    ['no policy', [LOG], 2, 'There is no policy: give one'],
    ['a bad policy', ['-p', 'fixedWindow:10', LOG], 2, '"fixedWindow:10" is no policy'],
    [
      'a bad number',
      ['-p', 'a=fixedWindow:0/1s', LOG],
      2,
      'Policy "a": FixedWindowRateLimiter: permitLimit must be',
    ],
    [
      'one name twice',
      ['-p', 'a=concurrency:1', '-p', 'a=concurrency:2', LOG],
      2,
      'There are two policies called "a".',
    ],
    ['no durations', ['-p', 'concurrency:1', LOG], 2, "but line 1 doesn't say how long its work took"],
    ['an unknown flag', ['--polcy', 'x'], 2, "Unknown option '--polcy'"],
    ['a time without a unit', [...PER_IP, '--duration', '5', LOG], 2, '--duration must be a time such as'],
    ['a chart of another kind', [...PER_IP, '--chart', 'a.png', LOG], 2, '--chart needs a file that ends in'],
    ['a policy file that is none', ['--policies', LOG, LOG], 2, `The policies in ${LOG} can't be read`],
    ['too many refusals', [...PER_IP, '--fail-above', '1%', LOG], 3, 'perIp refuses 25.2%: more than 1%.'],
    ['few enough refusals', [...PER_IP, '--fail-above', '30%', LOG], 0, ''],
  ])('ends with a code that says it: %s', async (_what, args, code, message) => {
    const result = await run(args);
    expect(result.stderr).toContain(message);
    expect(result.code).toBe(code);
  });
});
