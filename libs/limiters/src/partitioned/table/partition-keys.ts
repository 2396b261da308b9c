import { KeyIndex } from './key-index.js';
import { widthFor } from './key-column.js';
import { hashAt, hashOf, makePackedKey, packKey } from './packed-key.js';
import type { PartitionPage } from './partition-page.js';
import { indexOf, NO_ROW, pageOf } from './rows.js';
import { ShardedMap } from './sharded-map.js';

/**
 * Finds the rows of a table by their keys, which compare as in a `Map`. Short strings and whole numbers, which are
 * nearly all that there are, stand packed in the pages; the others need a `Map`.
 */
export class PartitionKeys {
  readonly #pages: readonly (PartitionPage | undefined)[];
  readonly #index: KeyIndex;
  readonly #others = new ShardedMap<number>();
  readonly #packed = makePackedKey();

  constructor(pages: readonly (PartitionPage | undefined)[]) {
    this.#pages = pages;
    this.#index = new KeyIndex(pages);
  }

  get size(): number {
    return this.#index.size + this.#others.size;
  }

  /** The row of a key, or {@link NO_ROW}. */
  find(key: unknown): number {
    const words = packKey(key, this.#packed);
    return words === 0 ? (this.#others.get(key) ?? NO_ROW) : this.#index.find(this.#packed, words);
  }

  /** How wide the column of keys has to be on the page of a key. */
  widthFor(key: unknown): number {
    return widthFor(packKey(key, this.#packed));
  }

  /** Notes the key of a row, one that isn't there yet. */
  add(key: unknown, row: number): void {
    const words = packKey(key, this.#packed);
    this.#pages[pageOf(row)]!.keys.put(indexOf(row), key, this.#packed, words);
    if (words === 0) this.#others.add(key, row);
    else this.#index.add(hashOf(this.#packed), row);
  }

  /** Forgets the key of a row. */
  delete(row: number): void {
    const { keys } = this.#pages[pageOf(row)]!;
    const index = indexOf(row);
    if (keys.isPacked) this.#index.delete(hashAt(keys.words, keys.placeOf(index)), row);
    else this.#others.delete(keys.keyOf(index));
    keys.remove(index);
  }
}
