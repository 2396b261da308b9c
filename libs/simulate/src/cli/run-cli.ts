import { writeFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { SimulationError } from '../errors/simulation-error.js';
import type { SimulationReport } from '../report/simulation-report.js';
import { simulate } from '../simulate.js';
import type { Flags, SuggestFlag } from './flags.js';
import { readFlags } from './flags.js';
import { HELP } from './help.js';
import { LogInputs, LogReadError, shownName } from './log-inputs.js';
import { shareText } from './numbers.js';
import { readPolicyArguments, readSoughtPolicies } from './policy-arguments.js';
import { reportChart, reportPage } from './report-chart.js';
import { suggest } from './suggest.js';
import { suggestionText, withoutLimitText } from './suggestion-text.js';
import { textReport, warningLines } from './text-report.js';
import { UsageError } from './usage-error.js';

/** What a command line has: its arguments and the three streams. */
export interface Terminal {
  readonly args: readonly string[];
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly version: string;
}

const EXIT = { done: 0, unreadable: 1, usage: 2, aboveShare: 3 } as const;

/** Runs the command and says with which code the process should end. */
export async function runCli(terminal: Terminal): Promise<number> {
  try {
    return await run(terminal);
  } catch (error) {
    const code = exitCodeOf(error);
    if (code === undefined) throw error;
    terminal.stderr.write(`${(error as Error).message}\n`);
    return code;
  }
}

function exitCodeOf(error: unknown): number | undefined {
  if (error instanceof LogReadError) return EXIT.unreadable;
  return error instanceof UsageError || error instanceof SimulationError ? EXIT.usage : undefined;
}

async function run(terminal: Terminal): Promise<number> {
  const { stdout } = terminal;
  const flags = readFlags(terminal.args);
  if (flags.wants !== 'simulation') {
    stdout.write(flags.wants === 'help' ? HELP : `${terminal.version}\n`);
    return EXIT.done;
  }
  return flags.suggest === undefined
    ? replay(flags, terminal)
    : choose({ ...flags, suggest: flags.suggest }, terminal);
}

async function replay(flags: Flags, { stdin, stdout, stderr }: Terminal): Promise<number> {
  const policies = readPolicyArguments(flags);
  requireLog(flags, stdin);
  const inputs = new LogInputs(flags.files, flags.log, stdin);
  const report = await simulate(policies, inputs, flags.options);
  stdout.write(flags.json ? jsonText({ ...report }, inputs) : textReport(report));
  return conclude(report, inputs, flags, stderr);
}

async function choose(flags: Flags & { suggest: SuggestFlag }, terminal: Terminal): Promise<number> {
  const { stdin, stdout, stderr } = terminal;
  const sought = readSoughtPolicies(flags);
  requireLog(flags, stdin);
  const { suggestions, report, inputs } = await suggest(sought, flags, stdin);
  if (flags.json) stdout.write(jsonText({ suggestions, ...report }, inputs));
  else if (report !== null)
    stdout.write(
      (report.entries === 0 ? '' : suggestionText(suggestions, flags.suggest)) + textReport(report),
    );
  stderr.write(withoutLimitText(suggestions, flags.suggest));
  const code = report === null ? EXIT.done : conclude(report, inputs, flags, stderr);
  return code === EXIT.done && suggestions.some(({ limit }) => limit === null) ? EXIT.aboveShare : code;
}

function requireLog({ files }: Flags, stdin: Terminal['stdin']): void {
  if (files.length === 0 && stdin.isTTY === true)
    throw new UsageError('There is no log: name one, or send one to standard input. See --help.');
}

/** What stands beside the report, and the code that says how it was. */
function conclude(report: SimulationReport, inputs: LogInputs, flags: Flags, stderr: Writable): number {
  if (flags.chart !== undefined) writeChart(flags.chart, report);
  const warnings = warningLines(report, namedLogs(inputs));
  if (warnings.length > 0) stderr.write(`${warnings.join('\n')}\n`);
  return judge(report, inputs, flags, stderr);
}

function namedLogs({ names, logs }: LogInputs): [string, LogInputs['logs'][number]][] {
  return logs.map((log, index) => [shownName(names[index]!), log]);
}

function jsonText(findings: object, inputs: LogInputs): string {
  const logs = namedLogs(inputs).map(([name, { lineCount, unreadableCount, unreadable }]) => ({
    name,
    lines: lineCount,
    unreadable: unreadableCount,
    firstUnreadable: unreadable,
  }));
  return `${JSON.stringify({ logs, ...findings }, null, 2)}\n`;
}

function writeChart(file: string, report: SimulationReport): void {
  try {
    writeFileSync(file, /\.svg$/i.test(file) ? reportChart(report) : reportPage(report));
  } catch (error) {
    throw new UsageError(`--chart: ${(error as Error).message}`);
  }
}

function judge(report: SimulationReport, inputs: LogInputs, flags: Flags, stderr: Writable): number {
  if (report.entries === 0) {
    const unreadable = inputs.logs.some(({ unreadableCount }) => unreadableCount > 0);
    stderr.write(unreadable ? 'No line could be read: see --format.\n' : 'The log is empty.\n');
    return unreadable ? EXIT.unreadable : EXIT.done;
  }
  const { failAboveShare } = flags;
  if (failAboveShare === undefined) return EXIT.done;
  const above = report.policies.filter(({ refusedShare }) => refusedShare > failAboveShare);
  for (const { name, refusedShare } of above)
    stderr.write(`${name} refuses ${shareText(refusedShare)}: more than ${shareText(failAboveShare)}.\n`);
  return above.length === 0 ? EXIT.done : EXIT.aboveShare;
}
