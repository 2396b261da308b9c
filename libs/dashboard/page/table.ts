import { element } from './elements.js';

/** How the columns of a table look, by index. */
export interface ColumnLooks {
  readonly numbers: readonly number[];
  readonly mono: readonly number[];
}

/** A table of texts; the first column heads its row. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { numbers, mono }: ColumnLooks,
): HTMLTableElement {
  const looks = headings.map((_, index) => {
    if (numbers.includes(index)) return 'number';
    return mono.includes(index) ? 'mono' : '';
  });
  const cell = (text: string, index: number): HTMLElement =>
    index === 0 ? element('th', { scope: 'row' }, text) : element('td', { class: looks[index]! }, text);
  return element(
    'table',
    {},
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        ...headings.map((heading, index) =>
          element('th', { scope: 'col', class: looks[index] === 'number' ? 'number' : '' }, heading),
        ),
      ),
    ),
    element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map(cell)))),
  );
}
