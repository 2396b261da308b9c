import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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
    [
      'a ? without a share',
      ['-p', 'fixedWindow:?/1m', LOG],
      2,
      'say how much may be refused, as --suggest 0.1%',
    ],
    [
      'a share without a ?',
      [...PER_IP, '--suggest', '1%', LOG],
      2,
      '"perIp=fixedWindow:30/1m,key=ip" must have one ? in the place of the number that --suggest looks for',
    ],
    ['two of them', ['-p', 'tokenBucket:?/1s,burst=?', '--suggest', '1%', LOG], 2, 'but has 2.'],
    ['no policy to look in', ['--suggest', '1%', LOG], 2, 'give one with a ? for its limit'],
    ['a share of something else', ['--suggest', '1% of users', LOG], 2, "written '0.1%' or '1% of keys'"],
    ['a share that is none', ['--suggest', '1', LOG], 2, '--suggest must be a share such as 1%'],
    ['a file of policies', ['--policies', 'p.json', '--suggest', '1%', LOG], 2, '--policies can have none'],
    [
      'no such limit',
      [
        '-p',
        'a=tokenBucket:1/1m,burst=1,queue=?',
        '-p',
        'all=fixedWindow:?/1m and concurrency:1',
        '--duration',
        '1h',
      ].concat(['--suggest', '1%', LOG]),
      3,
      'all: no limit up to 1,000,000,000 refuses at most 1% of the requests: its other numbers refuse more.',
    ],
    ['few enough refusals', [...PER_IP, '--fail-above', '30%', LOG], 0, ''],
  ])('ends with a code that says it: %s', async (_what, args, code, message) => {
    const result = await run(args);
    expect(result.stderr).toContain(message);
    expect(result.code).toBe(code);
  });

  describe('that looks for a limit', () => {
    const SUGGEST = ['-p', 'perIp=fixedWindow:?/1m,key=ip', '--suggest'];

    it('finds what one less would not do, and reports what it does', async () => {
      const { code, stdout } = await run([...SUGGEST, '1%', LOG]);
      expect(code).toBe(0);
      const { groups } = /perIp +(?<limit>\d+) .*\n +one less +(?<less>\d+) /.exec(stdout)!;
      expect(Number(groups!.less)).toBe(Number(groups!.limit) - 1);
      const policy = (limit: string | undefined): string[] => ['-p', `fixedWindow:${limit}/1m,key=ip`, LOG];
      expect((await run([...policy(groups!.limit), '--fail-above', '1%'])).code).toBe(0);
      expect((await run([...policy(groups!.less), '--fail-above', '1%'])).code).toBe(3);
      expect(stdout).toContain(`perIp is fixedWindow:${groups!.limit}/1m,key=ip`);
    });

    it('finds the same in standard input, which can be read only once', async () => {
      const [file, input] = [
        await run([...SUGGEST, '1% of keys', LOG]),
        await run([...SUGGEST, '1% of keys'], Readable.from([readFileSync(LOG)])),
      ];
      expect(input.stdout).toBe(file.stdout);
      expect(input.stderr).toBe(file.stderr.replaceAll(LOG, 'standard input'));
    });

    it('gives all of it as JSON', async () => {
      const { stdout } = await run([
        ...SUGGEST,
        '0%',
        '-p',
        'bucket=tokenBucket:1/2s,burst=?',
        '--json',
        LOG,
      ]);
      const { suggestions, policies, logs } = JSON.parse(stdout) as {
        suggestions: { name: string; limit: number; at: object; policy: { tokenLimit?: number } }[];
        policies: { name: string; refused: number }[];
        logs: unknown[];
      };
      expect(suggestions.map(({ name }) => name)).toEqual(['perIp', 'bucket']);
      expect(suggestions[1]!.policy.tokenLimit).toBe(suggestions[1]!.limit);
      expect(suggestions[0]!.at).toMatchObject({ refused: 0, refusedKeys: 0 });
      expect(policies).toMatchObject([
        { name: 'perIp', refused: 0 },
        { name: 'bucket', refused: 0 },
      ]);
      expect(logs).toHaveLength(1);
    });
  });
});

describe('a log that somebody else has written', () => {
  const line = (user: string, second: number): string =>
    JSON.stringify({ time: `2026-10-12T09:00:0${second}Z`, user });
  const evil = '\u001B[2J\u001B]0;title\u0007\u202Egnp';
  const lines = [
    ...Array.from({ length: 6 }, (_, index) => line(index % 2 === 0 ? `a${evil}` : 'b\nc', index)),
    `unreadable ${evil}`,
    '',
  ];
  const args = ['--policy', 'perUser=fixedWindow:1/1m,key=user'];
  // Whatever isn't shown as such, but for ends of lines.
  const RULING = /[\p{Cc}\p{Cf}]/u;

  it('cannot rule the terminal, nor break the lines of the report', async () => {
    const { stdout, stderr } = await run(args, Readable.from([lines.join('\n')]));
    for (const shown of [...stdout.split('\n'), ...stderr.split('\n')]) expect(shown).not.toMatch(RULING);
    expect(stdout).toContain('a\\u{1b}[2J\\u{1b}]0;title\\u{7}\\u{202e}gnp ');
    expect(stdout).toContain('b\\u{a}c ');
    expect(stderr).toContain('  line 7: unreadable \\u{1b}[2J');
  });

  it('leaves charts readable to what reads XML', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'simulate-')), 'report.html');
    await run([...args, '--chart', file], Readable.from([lines.join('\n')]));
    const page = readFileSync(file, 'utf8');
    for (const shown of page.split('\n')) expect(shown).not.toMatch(RULING);
    expect(page).toContain('a\\u{1b}[2J');
  });
});

it('reads no time whose zone there cannot be', async () => {
  const log = '192.0.2.1 - - [12/Oct/2026:11:00:00 +9999] "GET / HTTP/1.1" 200 5\n';
  const { code, stderr } = await run(PER_IP, Readable.from([log]));
  expect(code).toBe(1);
  expect(stderr).toContain('1 of 1 lines could not be read');
});
