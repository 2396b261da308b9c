import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { drawCharts } from './charts.mjs';

const PAGE = new URL('../../docs/benchmarks.md', import.meta.url);
const CHARTS = new URL('../../docs/images/benchmarks/', import.meta.url);

/** Puts the tables of a workload into the page that explains them, between its two marks, and draws them. */
export function putIntoDocs(workload, text) {
  const page = readFileSync(PAGE, 'utf8');
  const start = `<!-- ${workload}: written by npm run bench -- --docs -->`;
  const end = `<!-- end of ${workload} -->`;
  const from = page.indexOf(start);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/benchmarks.md has no place for ${workload}.`);
  writeFileSync(PAGE, `${page.slice(0, from + start.length)}\n${text}\n\n${page.slice(to)}`);
  putChartsIntoDocs();
}

/** Draws the tables of the page, and shows the charts below them. Charts without a table go. */
export function putChartsIntoDocs() {
  const { page, charts } = drawCharts(readFileSync(PAGE, 'utf8'));
  rmSync(CHARTS, { recursive: true, force: true });
  mkdirSync(CHARTS, { recursive: true });
  for (const [name, chart] of charts) writeFileSync(new URL(name, CHARTS), chart);
  writeFileSync(PAGE, page);
}

/** Whether the page shows the charts of its tables, and there are no others. */
export function checkCharts() {
  const shown = readFileSync(PAGE, 'utf8');
  const { page, charts } = drawCharts(shown);
  const files = existsSync(CHARTS) ? readdirSync(CHARTS) : [];
  const areEqual = [...charts].every(
    ([name, chart]) => files.includes(name) && readFileSync(new URL(name, CHARTS), 'utf8') === chart,
  );
  return page === shown && areEqual && files.length === charts.size;
}
