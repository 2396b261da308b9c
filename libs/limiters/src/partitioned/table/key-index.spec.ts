import { KeyColumn } from './key-column.js';
import { KeyIndex } from './key-index.js';
import { hashOf, makePackedKey, packKey } from './packed-key.js';
import { NO_ROW } from './rows.js';

/** An index over one page on which every key has its number for a place. */
class Numbered {
  readonly #keys = KeyColumn.ofWidth(4);
  readonly #packed = makePackedKey();
  readonly index = new KeyIndex([{ keys: this.#keys }]);

  add(number: number): void {
    const words = packKey(number, this.#packed);
    this.#keys.put(number, number, this.#packed, words);
    this.index.add(hashOf(this.#packed), number);
  }

  delete(number: number): void {
    packKey(number, this.#packed);
    this.index.delete(hashOf(this.#packed), number);
  }

  find(number: number): number {
    return this.index.find(this.#packed, packKey(number, this.#packed));
  }

  /** Those that aren't found as they should be. */
  wrong(count: number, isThere: (number: number) => boolean): number[] {
    return Array.from({ length: count }, (_, number) => number).filter(
      (number) => this.find(number) !== (isThere(number) ? number : NO_ROW),
    );
  }
}

describe('an index of keys', () => {
  it('finds what is in it, at any size, and nothing else', () => {
    const rows = new Numbered();
    const wrong: number[] = [];
    for (let number = 0; number < 300; number++) {
      rows.add(number);
      wrong.push(...rows.wrong(number + 2, (other) => other <= number));
      if (rows.index.size !== number + 1) wrong.push(number);
    }
    expect(wrong).toEqual([]);
  });

  it('finds the others when some have left, wherever they stood', () => {
    const rows = new Numbered();
    for (let number = 0; number < 400; number++) rows.add(number);
    const left = new Set<number>();
    const wrong: number[] = [];
    for (let step = 0; step < 399; step++) {
      // In an order that jumps.
      const number = (step * 7) % 400;
      rows.delete(number);
      left.add(number);
      if (step % 10 === 0) wrong.push(...rows.wrong(400, (other) => !left.has(other)));
    }
    expect(wrong).toEqual([]);
    expect(rows.index.size).toBe(1);
  });

  it('forgets each once', () => {
    const rows = new Numbered();
    rows.add(1);
    rows.add(2);
    for (let time = 0; time < 3; time++) rows.delete(1);
    expect([rows.index.size, rows.find(1), rows.find(2)]).toEqual([1, NO_ROW, 2]);
  });

  it('is divided once it is large, and finds all the same', () => {
    const rows = new Numbered();
    for (let number = 0; number < 4_096; number++) rows.add(number);
    expect(rows.wrong(4_096, () => true)).toEqual([]);
    for (let number = 0; number < 4_096; number += 2) rows.delete(number);
    expect(rows.wrong(4_096, (number) => number % 2 === 1)).toEqual([]);
    for (let number = 1; number < 4_096; number += 2) rows.delete(number);
    expect(rows.index.size).toBe(0);
    rows.add(5);
    expect(rows.wrong(10, (number) => number === 5)).toEqual([]);
  });
});
