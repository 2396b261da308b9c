import type { AccessLog } from '../log/access-log.js';
import type { PolicyReport, SimulationReport, Timeline } from '../report/simulation-report.js';
import { printable } from '../text/printable.js';
import { countText, shareText, stepText, timeText, waitText } from './numbers.js';
import { gathered, sparkline } from './sparkline.js';
import { tableLines } from './table.js';

const SPARK_COLUMNS = 72;
const LONGEST_KEY = 48;

/** What the command prints. */
export function textReport(report: SimulationReport): string {
  const parts = [
    spanLine(report),
    policyTable(report.policies).join('\n'),
    ...report.policies.flatMap(policySections),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** What was left out, a line each: for the error output, that a report in a file is not without it. */
export function warningLines(
  { late, policies }: SimulationReport,
  logs: readonly (readonly [string, AccessLog])[],
): string[] {
  const unreadable = logs.flatMap(([name, log]) => {
    if (log.unreadableCount === 0) return [];
    const examples = log.unreadable.map(({ line, text }) => `  line ${line}: ${printable(text)}`);
    const more = log.unreadableCount - examples.length;
    return [
      `${name}: ${countText(log.unreadableCount)} of ${countText(log.lineCount)} lines could not be read, and were left out:`,
      ...examples,
      ...(more > 0 ? [`  and ${countText(more)} more`] : []),
    ];
  });
  const lateLine =
    late.count === 0
      ? []
      : [
          `${requestsText(late.count)} came too late in the log to be sorted, and ${late.count === 1 ? 'was' : 'were'} left out (${late.places.join(', ')}${late.count > late.places.length ? ', …' : ''}): ` +
            'raise --reorder, or give rotated logs in the order of their time, the oldest first.',
        ];
  const keyless = policies
    .filter(({ withoutKey }) => withoutKey > 0)
    .map(
      ({ name, withoutKey }) =>
        `${name}: ${requestsText(withoutKey)} ${withoutKey === 1 ? 'has no key, and was' : 'have no key, and were'} let through.`,
    );
  return [...unreadable, ...lateLine, ...keyless];
}

function requestsText(count: number): string {
  return `${countText(count)} request${count === 1 ? '' : 's'}`;
}

function spanLine({ entries, fromMs, toMs }: SimulationReport): string {
  const count = requestsText(entries);
  return fromMs === null || toMs === null ? count : `${count}, ${timeText(fromMs)} to ${timeText(toMs)}`;
}

function policyTable(policies: readonly PolicyReport[]): string[] {
  const header = [
    'policy',
    'requests',
    'keys',
    'at once',
    'after waiting',
    'refused',
    'share',
    'wait: median',
    '95%',
    'longest',
  ];
  const rows = policies.map((policy) => [
    policy.name,
    countText(policy.requests),
    countText(policy.keys),
    countText(policy.grantedAtOnce),
    countText(policy.grantedAfterWait),
    countText(policy.refused),
    shareText(policy.refusedShare),
    ...(policy.waits === null
      ? ['', '', '']
      : [policy.waits.medianMs, policy.waits.p95Ms, policy.waits.maxMs].map(waitText)),
  ]);
  const notes = policies.flatMap(({ name, policy, outside, gaveUp }) => [
    ...(name === policy ? [] : [`${name} is ${policy}`]),
    ...(outside > 0 ? [`${name} is not for ${countText(outside)} of the requests`] : []),
    ...(gaveUp > 0 ? [`${name}: ${countText(gaveUp)} of the refused gave up waiting`] : []),
  ]);
  return [...tableLines(header, rows), ...(notes.length > 0 ? ['', ...notes] : [])];
}

function policySections(policy: PolicyReport): string[] {
  return [keySection(policy), timeSection(policy)]
    .filter((section) => section.length > 0)
    .map((lines) => lines.join('\n'));
}

function keySection({ name, topRefused, keys }: PolicyReport): string[] {
  if (topRefused.length === 0 || keys < 2) return [];
  const rows = topRefused.map(({ key, requests, refused }) => [
    shortKey(printable(key)),
    countText(requests),
    countText(refused),
    shareText(refused / requests),
  ]);
  return [`Refused most by ${name}`, ...tableLines(['key', 'requests', 'refused', 'share'], rows)];
}

function shortKey(key: string): string {
  return key.length > LONGEST_KEY ? `${key.slice(0, LONGEST_KEY - 1)}…` : key;
}

const ROWS = [
  ['granted', 'grantedAtOnce'],
  ['waited', 'grantedAfterWait'],
  ['refused', 'refused'],
] as const;

function timeSection({ name, timeline }: PolicyReport): string[] {
  if (timeline.steps.length < 2) return [];
  const rows = ROWS.map(([title, outcome]) => ({
    title,
    values: gathered(
      timeline.steps.map((step) => step[outcome]),
      SPARK_COLUMNS,
    ),
  })).filter(({ title, values }) => title === 'granted' || values.some((value) => value > 0));
  const largest = Math.max(1, ...rows.flatMap(({ values }) => values));
  const stepMs = timeline.stepMs * Math.ceil(timeline.steps.length / SPARK_COLUMNS);
  return [
    `${name} over time: ${stepText(stepMs)} a column, the highest is ${countText(largest)}`,
    ...rows.map(({ title, values }) => `${title.padEnd(7)} |${sparkline(values, largest)}`),
    axisLine(timeline),
  ];
}

function axisLine({ steps, stepMs }: Timeline): string {
  const size = Math.ceil(steps.length / SPARK_COLUMNS);
  const width = Math.ceil(steps.length / size);
  const [from, to] = [timeText(steps[0]!.startMs), timeText(steps.at(-1)!.startMs + stepMs)];
  return `${' '.repeat(9)}${from}${to.padStart(Math.max(width - from.length, to.length + 2))}`;
}
