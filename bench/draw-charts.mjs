// Draws the tables of docs/benchmarks.md again; `npm run bench -- --docs` does so by itself.
//
//   node bench/draw-charts.mjs            after a build
//   node bench/draw-charts.mjs --check    fails where charts and tables disagree
import { checkCharts, putChartsIntoDocs } from './harness/documentation.mjs';

if (!process.argv.includes('--check')) putChartsIntoDocs();
else if (!checkCharts()) {
  console.error(
    'The charts of docs/benchmarks.md are not those of its tables: run node bench/draw-charts.mjs',
  );
  process.exitCode = 1;
}
