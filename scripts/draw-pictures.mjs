// Draws the pictures of docs/choosing-an-algorithm.md: what the limiters let through of the same traffic. The limiters
// themselves decide; nothing here says what comes out.
//
//   node scripts/draw-pictures.mjs            writes docs/images/*.svg, after a build
//   node scripts/draw-pictures.mjs --check    fails where they are not what it would draw
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulate } from '@ratelease/simulate';
import { columnChart } from '@ratelease/simulate/charts';
import { ROOT } from './libraries.mjs';

const FOLDER = join(ROOT, 'docs/images');
const STEP_MS = 100;
const STEPS = 60;
const WINDOW_MS = 1_000;
const SERIES = [
  { name: 'granted', color: 'main' },
  { name: 'granted after waiting', color: 'second' },
  { name: 'refused', color: 'third' },
];
const SECONDS = Array.from({ length: 7 }, (_, second) => ({ column: second * 10, text: `${second} s` }));
const BOUNDARIES = SECONDS.slice(1, 6).map(({ column }) => column);

/** So many requests in each tenth of a second, by the tenth from which on they come. */
function traffic(counts) {
  const entries = [];
  for (let step = 0; step < STEPS; step++) {
    const [, count] = counts.findLast(([from]) => from <= step);
    for (let index = 0; index < count; index++)
      entries.push({ timeMs: step * STEP_MS + Math.floor((index * STEP_MS) / count) });
  }
  return entries;
}

/** A short burst around a boundary of the windows, then more than the limit for two seconds. */
const BURST_AND_OVERLOAD = traffic([
  [0, 1],
  [1, 0],
  [7, 4],
  [13, 0],
  [22, 1],
  [25, 2],
  [45, 0],
  [50, 1],
]);
const TWO_BURSTS = traffic([
  [0, 1],
  [5, 8],
  [8, 0],
  [35, 6],
  [38, 1],
]);

/** What became of each request, in the step in which it was decided: [granted, granted after waiting, refused]. */
async function columnsOf(policies, trace, options = {}) {
  const columns = new Map(Object.keys(policies).map((name) => [name, empty()]));
  const { policies: reports } = await simulate(policies, trace, {
    ...options,
    onOutcome({ policy, entry, outcome, waitedMs }) {
      const part = outcome === 'refused' ? 2 : waitedMs > 0 ? 1 : 0;
      const step = Math.floor((entry.timeMs + waitedMs) / STEP_MS);
      if (step < STEPS) columns.get(policy)[step][part]++;
    },
  });
  return { columns, reports: new Map(reports.map((report) => [report.name, report])) };
}

function empty() {
  return Array.from({ length: STEPS }, () => [0, 0, 0]);
}

function arriving(trace) {
  const columns = Array.from({ length: STEPS }, () => [0, 0, 0, 0]);
  for (const { timeMs } of trace) columns[Math.floor(timeMs / STEP_MS)][3]++;
  return columns;
}

function noteOf({ requests, refused }) {
  return `${requests - refused} of ${requests} let through`;
}

async function algorithms() {
  const policies = {
    fixed: { algorithm: 'fixedWindow', permitLimit: 10, windowMs: WINDOW_MS },
    sliding: { algorithm: 'slidingWindow', permitLimit: 10, windowMs: WINDOW_MS, segmentsPerWindow: 10 },
    bucket: {
      algorithm: 'tokenBucket',
      tokenLimit: 10,
      tokensPerPeriod: 10,
      replenishmentPeriodMs: WINDOW_MS,
    },
    slots: { algorithm: 'concurrency', permitLimit: 2 },
  };
  const { columns, reports } = await columnsOf(policies, BURST_AND_OVERLOAD, { durationMs: 200 });
  const panel = (name, title, marks) => ({
    title,
    marks,
    columns: columns.get(name),
    note: noteOf(reports.get(name)),
  });
  return columnChart({
    title: 'The same traffic, four limits of 10 a second',
    description:
      'Requests per tenth of a second. A fixed window lets 19 of a burst through that lies around a boundary, and the ' +
      'overload in bursts at each boundary. A sliding window lets 10 through in any second. A token bucket lets 10 ' +
      'through and then one every tenth of a second. A concurrency limit of 2 lets through what its work leaves room for.',
    series: [{ name: 'arriving', color: 'quiet' }, SERIES[0], SERIES[2]],
    panels: [
      { title: 'what arrives', columns: arriving(BURST_AND_OVERLOAD) },
      panel('fixed', 'fixedWindow: 10 in each second (dashed: its boundaries)', BOUNDARIES),
      panel('sliding', 'slidingWindow: 10 in a second, in 10 segments'),
      panel('bucket', 'tokenBucket: 10 tokens, 10 a second'),
      panel('slots', 'concurrency: 2 at once, each works for 200 ms'),
    ].map(({ columns: parts, ...rest }) => ({
      ...rest,
      columns: parts.map(([granted, , refused, arrived = 0]) => [arrived, granted, refused]),
    })),
    labels: SECONDS,
    panelHeight: 60,
  });
}

async function queues() {
  const bucket = {
    algorithm: 'tokenBucket',
    tokenLimit: 5,
    tokensPerPeriod: 10,
    replenishmentPeriodMs: WINDOW_MS,
  };
  const policies = {
    none: bucket,
    ten: { ...bucket, queueLimit: 10 },
    thirty: { ...bucket, queueLimit: 30 },
  };
  const { columns, reports } = await columnsOf(policies, TWO_BURSTS);
  const panel = (name, title) => {
    const report = reports.get(name);
    const wait =
      report.waits === null ? '' : `, the longest wait ${(report.waits.maxMs / 1_000).toFixed(1)} s`;
    return {
      title,
      columns: columns.get(name).map((parts) => [0, ...parts]),
      note: `${noteOf(report)}${wait}`,
    };
  };
  return columnChart({
    title: 'What a queue makes of bursts',
    description:
      'Requests per tenth of a second, by the time at which they were let through. Without a queue what exceeds the ' +
      'bucket is refused; with a queue of 10 some of it goes through later, at the rate; with one of 30 all of it, later still.',
    series: [{ name: 'arriving', color: 'quiet' }, ...SERIES],
    panels: [
      { title: 'what arrives', columns: arriving(TWO_BURSTS).map(([, , , arrived]) => [arrived, 0, 0, 0]) },
      panel('none', 'tokenBucket: 5 tokens, 10 a second, no queue'),
      panel('ten', 'the same with queueLimit: 10'),
      panel('thirty', 'the same with queueLimit: 30'),
    ],
    labels: SECONDS,
    panelHeight: 60,
  });
}

const pictures = { 'algorithms.svg': await algorithms(), 'queues.svg': await queues() };
mkdirSync(FOLDER, { recursive: true });
for (const [name, picture] of Object.entries(pictures)) {
  const file = join(FOLDER, name);
  if (!process.argv.includes('--check')) writeFileSync(file, picture);
  else if (readFileSync(file, 'utf8') !== picture) {
    console.error(`docs/images/${name} is not what the limiters do: run node scripts/draw-pictures.mjs`);
    process.exitCode = 1;
  }
}
