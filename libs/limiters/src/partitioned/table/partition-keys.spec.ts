import * as fc from 'fast-check';
import { KeyColumn, widthFor } from './key-column.js';
import type { PartitionPage } from './partition-page.js';
import { PartitionKeys } from './partition-keys.js';
import { indexOf, NO_ROW, PAGE_ROWS, pageOf, rowAt } from './rows.js';

/** Keys of a kind each, so that every column and both ways of finding are used. */
const KINDS: ((number: number) => unknown)[] = [
  (number) => `k${number}`,
  (number) => `a longer key, ${number}`,
  (number) => `0123456789-0123456789-0123456789-${number}`,
  (number) => number,
  (number) => `→${number}`,
  (number) => number + 0.5,
  (number) => `${'long '.repeat(20)}${number}`,
];

/** Rows on pages of one width each, as a table has them. */
class Rows {
  readonly pages: { readonly keys: KeyColumn }[] = [];
  readonly keys = new PartitionKeys(this.pages as unknown as PartitionPage[]);
  readonly #free = new Map<number, number[]>();

  add(key: unknown): number {
    const width = this.keys.widthFor(key);
    const free = this.#freeOf(width);
    if (free.length === 0) {
      const page = this.pages.push({ keys: KeyColumn.ofWidth(width) }) - 1;
      for (let index = PAGE_ROWS - 1; index >= 0; index--) free.push(rowAt(page, index));
    }
    const row = free.pop()!;
    this.keys.add(key, row);
    return row;
  }

  delete(key: unknown, row: number): void {
    this.keys.delete(row);
    this.#freeOf(this.keys.widthFor(key)).push(row);
  }

  #freeOf(width: number): number[] {
    const free = this.#free.get(width) ?? [];
    this.#free.set(width, free);
    return free;
  }
}

describe('the keys of a table', () => {
  it('are found as in a Map, whatever comes and goes', () => {
    const step = fc.record({
      kind: fc.integer({ min: 0, max: KINDS.length - 1 }),
      number: fc.integer({ min: 0, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
        const rows = new Rows();
        const expected = new Map<unknown, number>();
        for (const { kind, number } of steps) {
          const key = KINDS[kind]!(number);
          const row = expected.get(key);
          expect(rows.keys.find(key)).toBe(row ?? NO_ROW);
          if (row === undefined) expected.set(key, rows.add(key));
          else {
            rows.delete(key, row);
            expected.delete(key);
          }
          expect(rows.keys.size).toBe(expected.size);
        }
        for (const [key, row] of expected) expect(rows.keys.find(key)).toBe(row);
      }),
    );
  });

  it('are forgotten also where a longer one stood in their row before', () => {
    const rows = new Rows();
    const row = rows.add('a long one, 15!');
    rows.delete('a long one, 15!', row);
    for (const key of ['k', 7, '0123456']) {
      expect(rows.add(key)).toBe(row);
      expect(rows.keys.find(key)).toBe(row);
      rows.delete(key, row);
      expect([rows.keys.find(key), rows.keys.size]).toEqual([NO_ROW, 0]);
    }
  });

  it('are found among many, and forgotten one by one', () => {
    const rows = new Rows();
    const count = 40_000;
    const found = Array.from({ length: count }, (_, number) => rows.add(`k${number}`));
    expect(found.every((row, number) => rows.keys.find(`k${number}`) === row)).toBe(true);
    for (let number = 0; number < count; number += 2) rows.delete(`k${number}`, found[number]!);
    expect(rows.keys.size).toBe(count / 2);
    expect(
      found.every((row, number) => rows.keys.find(`k${number}`) === (number % 2 === 0 ? NO_ROW : row)),
    ).toBe(true);
    for (let number = 1; number < count; number += 2) rows.delete(`k${number}`, found[number]!);
    expect(rows.keys.size).toBe(0);
    const row = rows.add('k1');
    expect(rows.keys.find('k1')).toBe(row);
  });

  it('can be read back from their rows until they are forgotten', () => {
    const rows = new Rows();
    const placed = KINDS.map((keyOf) => ({ key: keyOf(7), row: rows.add(keyOf(7)) }));
    for (const { key, row } of placed) {
      const { keys } = rows.pages[pageOf(row)]!;
      expect(keys.keyOf(indexOf(row))).toBe(key);
      expect(keys.hasKey(indexOf(row))).toBe(true);
      rows.keys.delete(row);
      expect(keys.hasKey(indexOf(row))).toBe(false);
    }
  });

  it.each([
    [0, 0],
    [1, 4],
    [4, 4],
    [5, 6],
    [10, 10],
    [16, 16],
  ])('of %d words stand in a column of %d', (words, width) => {
    expect(widthFor(words)).toBe(width);
  });
});
