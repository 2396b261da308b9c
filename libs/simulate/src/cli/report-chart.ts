import { columnChart } from '../charts/column-chart.js';
import { escaped } from '../charts/svg.js';
import type { PolicyReport, SimulationReport } from '../report/simulation-report.js';
import { axisTimeText, countText, shareText, stepText, waitText } from './numbers.js';

/** About so many labels have room below the columns. */
const LABELS = 5;

/** The report as a chart, a panel for each policy: an SVG document. */
export function reportChart(report: SimulationReport): string {
  const timelines = report.policies.map(({ timeline }) => timeline);
  const longest = timelines.reduce((best, one) => (one.steps.length > best.steps.length ? one : best));
  const every = Math.max(1, Math.ceil(longest.steps.length / LABELS));
  const labels = longest.steps.flatMap(({ startMs }, column) =>
    column % every === 0 ? [{ column, text: axisTimeText(startMs, longest.stepMs) }] : [],
  );
  return columnChart({
    title: `Requests in ${stepText(longest.stepMs)}`,
    description: report.policies.map(sentence).join(' '),
    series: [
      { name: 'granted at once', color: 'main' },
      { name: 'after waiting', color: 'second' },
      { name: 'refused', color: 'third' },
    ],
    panels: report.policies.map(({ name, refused, refusedShare, timeline }) => ({
      title: name,
      note: `${countText(refused)} refused (${shareText(refusedShare)})`,
      columns: timeline.steps.map((step) => [step.grantedAtOnce, step.grantedAfterWait, step.refused]),
    })),
    labels,
    panelHeight: 90,
  });
}

function sentence({ name, requests, grantedAtOnce, grantedAfterWait, refused }: PolicyReport): string {
  const counts = [grantedAtOnce, grantedAfterWait, refused].map(countText);
  return `${name}: of ${countText(requests)} requests ${counts[0]} granted at once, ${counts[1]} after waiting, ${counts[2]} refused.`;
}

const PAGE_STYLE =
  ':root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}' +
  'svg{max-width:100%;height:auto}table{border-collapse:collapse;display:block;overflow-x:auto}' +
  'td,th{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #8886}td:first-child,th:first-child{text-align:left}';

/** The chart with its figures on a page of its own. */
export function reportPage(report: SimulationReport): string {
  const header = [
    'Policy',
    'Requests',
    'At once',
    'After waiting',
    'Refused',
    'Share',
    'Median wait',
    '95 %',
    'Longest',
  ];
  const rows = report.policies.map((policy) => [
    policy.name === policy.policy ? policy.name : `${policy.name} (${policy.policy})`,
    ...[policy.requests, policy.grantedAtOnce, policy.grantedAfterWait, policy.refused].map(countText),
    shareText(policy.refusedShare),
    ...(policy.waits === null
      ? ['', '', '']
      : [policy.waits.medianMs, policy.waits.p95Ms, policy.waits.maxMs].map(waitText)),
  ]);
  const keys = report.policies
    .filter(({ topRefused, keys }) => topRefused.length > 0 && keys > 1)
    .flatMap((policy) => [
      `<h2>Refused most by ${escaped(policy.name)}</h2>`,
      table(
        ['Key', 'Requests', 'Refused'],
        policy.topRefused.map(({ key, requests, refused }) => [key, countText(requests), countText(refused)]),
      ),
    ]);
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>Simulated limits</title><style>${PAGE_STYLE}</style></head><body>`,
    '<h1>Simulated limits</h1>',
    reportChart(report),
    table(header, rows),
    ...keys,
    '</body></html>\n',
  ].join('\n');
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('')}</tr>`;
  return `<table>${line(header, 'th')}${rows.map((row) => line(row, 'td')).join('')}</table>`;
}
