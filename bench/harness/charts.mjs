// Draws the tables of docs/benchmarks.md: a bar chart for each, and a line chart where a workload has a table for each
// of several sizes. What is drawn is read from the page, so that charts and tables can't disagree.
import { barChart, lineChart } from '@ratelease/simulate/charts';

const FOLDER = 'images/benchmarks';
const IMAGE = new RegExp(`^!\\[[^\\]]*\\]\\(${FOLDER}/[^)]*\\)\\n\\n?`, 'gm');
const TABLE = /^### (.+)\n\n((?:\|.*\n)+)/gm;
/** `1,000 keys, uniform`: a table of one size. */
const SIZE = /^([\d,]+) (\S+)/;
const SIZES_OF_A_LINE = 3;
const SERIES = [
  { name: 'ours', color: 'main' },
  { name: 'peers', color: 'second' },
  { name: 'the least that could do it', color: 'quiet' },
];

/**
 * @param {string} page - the page, with charts or without
 * @returns {{ page: string, charts: Map<string, string> }} the page with its charts, and these by the names of their files
 */
export function drawCharts(page) {
  const charts = new Map();
  const bare = page.replace(IMAGE, '');
  const tables = [...bare.matchAll(TABLE)].map((match) => readTable(match));
  const sizes = groupBySize(tables);
  const inserted = tables.map((table) => {
    const group = sizes.get(table.title);
    if (group !== undefined && group.at(-1) !== table) return { at: table.end, text: '' };
    const [chart, name, alt] = group === undefined ? bars(table) : lines(table.title, group);
    if (chart === undefined) return { at: table.end, text: '' };
    charts.set(name, chart);
    return { at: table.end, text: `\n![${alt}](${FOLDER}/${name})\n` };
  });
  let result = '';
  let from = 0;
  for (const { at, text } of inserted) {
    result += bare.slice(from, at) + text;
    from = at;
  }
  return { page: result + bare.slice(from), charts };
}

function readTable({ 0: whole, 1: heading, 2: text, index }) {
  const [header, , ...rows] = text.trim().split('\n').map(cellsOf);
  const [title, scenario = ''] = heading.split(/: (.*)/);
  return {
    heading,
    title,
    scenario,
    axis: header[1],
    rows: rows.map(([label, value, range]) => ({
      label,
      value: numberOf(value),
      text: value,
      range: (range ?? '').split('–').map(numberOf),
    })),
    end: index + whole.length,
  };
}

function cellsOf(line) {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}

function numberOf(text) {
  return text === '' ? NaN : Number(text.replaceAll(',', ''));
}

/** Workloads whose tables differ by a number in front: their growth says more than each of them. */
function groupBySize(tables) {
  const groups = new Map();
  for (const table of tables.filter(({ scenario }) => SIZE.test(scenario)))
    groups.set(table.title, [...(groups.get(table.title) ?? []), table]);
  for (const [title, group] of groups) {
    const sizes = new Set(group.map(({ scenario }) => SIZE.exec(scenario)[1]));
    if (sizes.size < Math.max(SIZES_OF_A_LINE, group.length)) groups.delete(title);
  }
  return groups;
}

function bars({ heading, axis, rows }) {
  const drawable = rows.filter(({ value }) => value > 0);
  if (drawable.length < 2) return [];
  const bars = drawable.map(({ label, value, text, range }) => ({
    label,
    value,
    text,
    color: colorOf(label),
    range: range.every((end) => end > 0) && range.length === 2 ? range : undefined,
  }));
  const colors = new Set(bars.map(({ color }) => color));
  const description = `${axis}. ${drawable.map(({ label, text }) => `${label}: ${text}.`).join(' ')}`;
  const series = SERIES.filter(({ color }) => colors.has(color));
  const alt = `${heading}, ${axis}`;
  return [barChart({ title: heading, description, axis, bars, series }), `${nameOf(heading)}.svg`, alt];
}

function lines(title, group) {
  const { axis, rows, scenario } = group[0];
  const unit = `${SIZE.exec(scenario)[2].replace(/,$/, '').replace(/s$/, '')}s`;
  const lines = rows.map(({ label }) => ({
    name: label,
    color: colorOf(label),
    points: group.flatMap((table) => {
      const value = table.rows.find((row) => row.label === label)?.value;
      return value > 0 ? [[numberOf(SIZE.exec(table.scenario)[1]), value]] : [];
    }),
  }));
  const heading = `${title}: ${axis} by the number of ${unit}`;
  const drawn = lines.filter(({ points }) => points.length > 1);
  const description = drawn
    .map(
      ({ name, points }) =>
        `${name}: ${points[0][1]} at ${points[0][0]}, ${points.at(-1)[1]} at ${points.at(-1)[0]}.`,
    )
    .join(' ');
  const chart = lineChart({ title: heading, description, xAxis: unit, yAxis: axis, lines: drawn });
  return [chart, `${nameOf(title)}.svg`, heading];
}

function colorOf(label) {
  if (/^(?:ratelease|one limiter|chain of|one policy|\w+ policies)/i.test(label)) return 'main';
  return /^(?:minimum|nothing|an interceptor|a guard)/.test(label) ? 'quiet' : 'second';
}

function nameOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}
