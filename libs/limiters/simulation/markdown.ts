import type { Figures } from './figures.js';
import type { OverloadTable } from './overload.js';

const COLUMNS: Readonly<Record<string, (figures: Figures) => string>> = {
  asked: ({ asked }) => whole(asked),
  served: ({ served }) => whole(served),
  refused: ({ refused }) => whole(refused),
  'still waiting': ({ waiting }) => whole(waiting),
  median: ({ medianMs }) => `${whole(medianMs)} ms`,
  p99: ({ p99Ms }) => `${whole(p99Ms)} ms`,
  longest: ({ maxMs }) => `${whole(maxMs)} ms`,
  'most turns': ({ mostTurns }) => whole(mostTurns),
  share: ({ share }) => `${(share * 100).toFixed(1)} %`,
  fairness: ({ fairness }) => fairness.toFixed(3),
};

function whole(number: number): string {
  return number.toLocaleString('en');
}

/** The lines of a Markdown table. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

/** The lines of a table of the simulation. */
export function overloadTable({ rows }: OverloadTable): string[] {
  return markdownTable(
    ['who', ...Object.keys(COLUMNS)],
    rows.map(({ name, figures }) => [name, ...Object.values(COLUMNS).map((show) => show(figures))]),
  );
}
