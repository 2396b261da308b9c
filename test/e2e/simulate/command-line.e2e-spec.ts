import type { SimulationReport } from '@ratelease/simulate';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { blocksOf } from '../../docs/markdown.js';
import { LOGS, SimulateCommand } from './simulate-command.js';

const PER_IP = ['--policy', 'perIp=fixedWindow:30/1m,key=ip'];
const log = readFileSync(join(LOGS, 'access.log'));

describe('ratelease-simulate', () => {
  let command: SimulateCommand;
  let folder: string;

  beforeAll(() => {
    command = new SimulateCommand();
    folder = mkdtempSync(join(tmpdir(), 'ratelease-simulate-'));
  });
  afterAll(() => {
    command.remove();
    rmSync(folder, { recursive: true });
  });

  /** The report of a run that went well. */
  async function reportOf(args: readonly string[], input?: string | Uint8Array): Promise<SimulationReport> {
    const { code, stdout } = await command.run(['--json', ...args], input);
    expect(code).toBe(0);
    return JSON.parse(stdout) as SimulationReport;
  }

  const examples = blocksOf('docs/simulate.md').flatMap<[string, string]>((block, index, blocks) => {
    const below = blocks[index + 1];
    const isExample = block.text.startsWith('npx ratelease-simulate') && below?.language === 'text';
    return isExample ? [[block.text, below.text]] : [];
  });

  it('is shown by its guide', () => {
    expect(examples).toHaveLength(3);
  });

  it.each(examples)('prints what its guide says: %s', async (line, expected) => {
    const { code, stdout } = await command.shell(line.replace('npx ratelease-simulate', '{}'));
    expect(code).toBe(0);
    expect(stdout.trimEnd()).toBe(expected);
  });

  it('names the lines that it could not read', async () => {
    const { code, stderr } = await command.run([...PER_IP, 'access.log']);
    expect(code).toBe(0);
    expect(stderr).toBe(
      'access.log: 1 of 319 lines could not be read, and were left out:\n  line 58: 198.51.100.4 - - [12/Oct/2026:11:0\n',
    );
  });

  it('finds the same in a file, in standard input, in gzip and in any of them cut in two', async () => {
    writeFileSync(join(folder, 'whole.log.gz'), gzipSync(log));
    // The members of a gzip file may be several, as in rotated logs put together.
    const half = log.indexOf('\n', log.length / 2) + 1;
    const members = Buffer.concat([gzipSync(log.subarray(0, half)), gzipSync(log.subarray(half))]);
    writeFileSync(join(folder, 'first.log'), log.subarray(0, half - 1));
    writeFileSync(join(folder, 'second.log'), log.subarray(half));
    const reports = await Promise.all([
      reportOf([...PER_IP, 'access.log']),
      reportOf(PER_IP, log),
      reportOf([...PER_IP, '-'], log),
      reportOf(PER_IP, members),
      reportOf([...PER_IP, join(folder, 'whole.log.gz')]),
      reportOf([...PER_IP, join(folder, 'first.log'), join(folder, 'second.log')]),
    ]);
    const [first, ...others] = reports.map(({ policies, entries }) => ({ policies, entries }));
    expect(first!.entries).toBe(318);
    expect(first!.policies[0]!.refused).toBeGreaterThan(50);
    for (const other of others) expect(other).toEqual(first);
  });

  it('reads policies from a file beside those of the line', async () => {
    const file = join(folder, 'policies.json');
    writeFileSync(
      file,
      JSON.stringify({
        perIp: { algorithm: 'fixedWindow', permitLimit: 30, windowMs: 60_000, key: 'ip' },
        chain: [
          { algorithm: 'fixedWindow', permitLimit: 30, windowMs: 60_000, key: 'ip' },
          { algorithm: 'fixedWindow', permitLimit: 60, windowMs: 60_000 },
        ],
      }),
    );
    const { policies } = await reportOf(['--policies', file, '-p', 'all=fixedWindow:60/1m', 'access.log']);
    expect(policies.map(({ name }) => name)).toEqual(['perIp', 'chain', 'all']);
    const [perIp, chain, all] = policies.map(({ refused }) => refused);
    expect(chain).toBeGreaterThanOrEqual(Math.max(perIp!, all!));
  });

  it('reads JSON lines by the names that it is given', async () => {
    const lines = [0, 0, 500, 1_500].map((ms) =>
      JSON.stringify({ at: ms / 1_000, client: { addr: '::1' }, took: 250 }),
    );
    const flags = [
      '--time-field',
      'at',
      '--ip-field',
      'client.addr',
      '--duration-field',
      'took',
      '--duration-unit',
      'ms',
    ];
    const { policies } = await reportOf([...flags, '-p', 'concurrency:1,queue=1,key=ip'], lines.join('\n'));
    expect(policies[0]).toMatchObject({
      grantedAtOnce: 3,
      grantedAfterWait: 1,
      refused: 0,
      waits: { maxMs: 250 },
    });
  });

  it('lets clients give up, and spreads whole seconds unless it is told not to', async () => {
    const lines = Array.from({ length: 4 }, () => '{"time":"2026-10-12T09:00:00Z"}').join('\n');
    const policy = ['-p', 'tokenBucket:1/1s,queue=9'];
    const waiting = await reportOf([...policy, '--no-spread'], lines);
    const impatient = await reportOf([...policy, '--no-spread', '--max-wait', '1500ms'], lines);
    const spread = await reportOf([...policy], lines);
    expect(waiting.policies[0]).toMatchObject({ refused: 0, waits: { maxMs: 3_000 } });
    expect(impatient.policies[0]).toMatchObject({ refused: 2, waits: { maxMs: 1_000 } });
    expect(spread.policies[0]!.waits!.maxMs).toBe(2_250);
  });

  it('says which requests came too late', async () => {
    const lines = [0, 50, 100, 5].map((second) => `{"time":${1e9 + second}}`).join('\n');
    const { stderr, stdout } = await command.run(['-p', 'fixedWindow:1/1s', '--reorder', '10s'], lines);
    expect(stdout).toContain('4 requests');
    expect(stderr).toContain('1 request came too late in the log to be sorted, and was left out (line 4)');
    expect((await reportOf(['-p', 'fixedWindow:1/1s', '--reorder', '2m'], lines)).late.count).toBe(0);
  });

  it('draws charts', async () => {
    const [svg, html] = [join(folder, 'chart.svg'), join(folder, 'chart.html')];
    await command.run([...PER_IP, '--chart', svg, 'access.log']);
    await command.run([
      '-p',
      '<b>=fixedWindow:1/1s,key=ip'.replace('<b>', 'bold'),
      '--chart',
      html,
      'access.log',
    ]);
    expect(readFileSync(svg, 'utf8')).toMatch(/^<svg [\s\S]*<title>[\s\S]*perIp[\s\S]*<\/svg>\n$/);
    expect(readFileSync(html, 'utf8')).toMatch(
      /^<!doctype html>[\s\S]*<svg [\s\S]*203\.0\.113\.9[\s\S]*<\/html>\n$/,
    );
  });

  it('ends quietly when nobody reads its output any more', async () => {
    const { stdout, stderr } = await command.shell(
      "{} --json -p 'fixedWindow:30/1m,key=path' access.log | head -c 1",
    );
    expect(stdout).toBe('{');
    expect(stderr).not.toContain('EPIPE');
  });

  it('ends with a code that says what happened', async () => {
    const results = await Promise.all([
      command.run([...PER_IP, '--fail-above', '30%', 'access.log']),
      command.run([...PER_IP, 'missing.log']),
      command.run(['access.log']),
      command.run([...PER_IP, '--fail-above', '1%', 'access.log']),
    ]);
    expect(results.map(({ code }) => code)).toEqual([0, 1, 2, 3]);
  });

  it('says that a compressed log is broken', async () => {
    const { code, stderr } = await command.run(PER_IP, gzipSync(log).subarray(0, 500));
    expect(code).toBe(1);
    expect(stderr).toContain("standard input can't be read: unexpected end of file");
  });
});
