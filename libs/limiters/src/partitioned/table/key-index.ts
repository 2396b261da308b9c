import type { KeyColumn } from './key-column.js';
import type { PackedKey } from './packed-key.js';
import { hashOf } from './packed-key.js';
import { indexOf, NO_ROW, pageOf } from './rows.js';

/** The pages of which an index finds the rows. */
export type KeyedPages = readonly ({ readonly keys: KeyColumn } | undefined)[];

/** Up to so many rows there is one part. */
const SPLIT_AT = 4096;
const PART_BITS = 5;
const FEWEST_SLOTS = 16;
/** In the place of a row, plus one, where a slot is empty. */
const EMPTY = 0;

/**
 * Finds rows by the hash of their key: open addressing in typed arrays, a slot being a hash and a row. Beyond
 * {@link SPLIT_AT} rows it is divided into parts, so that no growth holds the event loop for long: a part of a
 * million rows is copied in less than a millisecond. More parts would be more objects that no cache keeps.
 */
export class KeyIndex {
  readonly #pages: KeyedPages;
  #parts = [new IndexPart()];
  #size = 0;

  constructor(pages: KeyedPages) {
    this.#pages = pages;
  }

  get size(): number {
    return this.#size;
  }

  /** The row of a key, or {@link NO_ROW}. */
  find(packed: PackedKey, words: number): number {
    const hash = hashOf(packed);
    const { slots } = this.#partOf(hash);
    const last = slots.length - 2;
    for (let at = (hash << 1) & last; ; at = (at + 2) & last) {
      const row = slots[at + 1]! - 1;
      if (row === NO_ROW) return NO_ROW;
      if (slots[at] !== hash) continue;
      if (this.#pages[pageOf(row)]!.keys.matches(indexOf(row), packed, words)) return row;
    }
  }

  /** Adds a row that isn't there yet. */
  add(hash: number, row: number): void {
    if (++this.#size === SPLIT_AT && this.#parts.length === 1) this.#split();
    this.#partOf(hash).add(hash, row);
  }

  delete(hash: number, row: number): void {
    if (!this.#partOf(hash).delete(hash, row)) return;
    if (--this.#size === 0) this.#parts = [new IndexPart()];
  }

  #partOf(hash: number): IndexPart {
    return this.#parts[(hash >>> (32 - PART_BITS)) & (this.#parts.length - 1)]!;
  }

  #split(): void {
    const { slots } = this.#parts[0]!;
    this.#parts = Array.from({ length: 1 << PART_BITS }, () => new IndexPart());
    for (let at = 0; at < slots.length; at += 2) {
      if (slots[at + 1] !== EMPTY) this.#partOf(slots[at]!).add(slots[at]!, slots[at + 1]! - 1);
    }
  }
}

class IndexPart {
  slots = new Int32Array(2 * FEWEST_SLOTS);
  #count = 0;

  add(hash: number, row: number): void {
    // Three quarters full at most: 8 numbers a row.
    if (++this.#count * 8 > this.slots.length * 3) this.#resize(this.slots.length * 2);
    this.#put(hash, row + 1);
  }

  delete(hash: number, row: number): boolean {
    const { slots } = this;
    const last = slots.length - 2;
    let hole = (hash << 1) & last;
    while (slots[hole + 1] !== row + 1) {
      if (slots[hole + 1] === EMPTY) return false;
      hole = (hole + 2) & last;
    }
    // What follows closes up, so that no search ends before it has found what it looks for.
    for (let at = (hole + 2) & last; slots[at + 1] !== EMPTY; at = (at + 2) & last) {
      const home = (slots[at]! << 1) & last;
      if (((at - home) & last) < ((at - hole) & last)) continue;
      slots[hole] = slots[at]!;
      slots[hole + 1] = slots[at + 1]!;
      hole = at;
    }
    slots[hole + 1] = EMPTY;
    if (--this.#count * 16 < slots.length && slots.length > 2 * FEWEST_SLOTS) this.#resize(slots.length / 2);
    return true;
  }

  #put(hash: number, value: number): void {
    const { slots } = this;
    const last = slots.length - 2;
    let at = (hash << 1) & last;
    while (slots[at + 1] !== EMPTY) at = (at + 2) & last;
    slots[at] = hash;
    slots[at + 1] = value;
  }

  #resize(length: number): void {
    const before = this.slots;
    this.slots = new Int32Array(length);
    for (let at = 0; at < before.length; at += 2) {
      if (before[at + 1] !== EMPTY) this.#put(before[at]!, before[at + 1]!);
    }
  }
}
