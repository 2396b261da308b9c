import { readFileSync, writeFileSync } from 'node:fs';

const PAGE = new URL('../../docs/benchmarks.md', import.meta.url);

/** Puts the tables of a workload into the page that explains them, between its two marks. */
export function putIntoDocs(workload, text) {
  const page = readFileSync(PAGE, 'utf8');
  const start = `<!-- ${workload}: written by npm run bench -- --docs -->`;
  const end = `<!-- end of ${workload} -->`;
  const from = page.indexOf(start);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/benchmarks.md has no place for ${workload}.`);
  writeFileSync(PAGE, `${page.slice(0, from + start.length)}\n${text}\n\n${page.slice(to)}`);
}
