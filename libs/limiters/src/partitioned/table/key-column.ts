import type { PackedKey } from './packed-key.js';
import { MOST_WORDS, unpackKey } from './packed-key.js';
import { PAGE_ROWS } from './rows.js';

/** The first word of a row without a key: none begins with it. */
const NO_KEY = 0;
/** The same where keys aren't packed. */
const NOTHING: unique symbol = Symbol('no key');

/** Widths in words, for up to 15 characters (IPv4 addresses), 23, 39 (IPv6 addresses, UUIDs) and 63. */
const WIDTHS = [4, 6, 10, MOST_WORDS] as const;

/** How wide a column has to be for a packed key of so many words; 0 where keys aren't packed. */
export function widthFor(words: number): number {
  return words === 0 ? 0 : WIDTHS.find((width) => width >= words)!;
}

/**
 * The keys of the rows of a page: packed, between other things in an array, or as they are where they can't be packed.
 * A row without a key is free, or its partition is gone while it still stands in a bucket of the expiry wheel.
 */
export class KeyColumn {
  /** Where packed keys stand. */
  readonly words: Int32Array;
  readonly #first: number;
  readonly #stride: number;
  readonly #unpacked: unknown[] | null;

  /** @param stride - from one key to the next, in words; 0 where they aren't packed. */
  constructor(words: Int32Array, first: number, stride: number) {
    this.words = words;
    this.#first = first;
    this.#stride = stride;
    this.#unpacked = stride === 0 ? Array.from({ length: PAGE_ROWS }, () => NOTHING) : null;
  }

  /** A column in an array of its own. */
  static ofWidth(width: number): KeyColumn {
    return new KeyColumn(new Int32Array(PAGE_ROWS * width), 0, width);
  }

  get isPacked(): boolean {
    return this.#unpacked === null;
  }

  /** Where the packed key of a row begins. */
  placeOf(index: number): number {
    return this.#first + index * this.#stride;
  }

  /** Whether that is the packed key of a row. */
  matches(index: number, packed: PackedKey, words: number): boolean {
    const own = this.words;
    const at = this.#first + index * this.#stride;
    for (let word = 0; word < words; word++) if (own[at + word] !== packed[word]) return false;
    return true;
  }

  hasKey(index: number): boolean {
    return this.#unpacked === null
      ? this.words[this.placeOf(index)] !== NO_KEY
      : this.#unpacked[index] !== NOTHING;
  }

  /** The key of a row; only for one that has it. */
  keyOf(index: number): unknown {
    return this.#unpacked === null ? unpackKey(this.words, this.placeOf(index)) : this.#unpacked[index];
  }

  /** Notes the key of a row, packed into so many words if it can be. */
  put(index: number, key: unknown, packed: PackedKey, words: number): void {
    if (this.#unpacked !== null) this.#unpacked[index] = key;
    else
      for (let word = 0, at = this.placeOf(index); word < words; word++)
        this.words[at + word] = packed[word]!;
  }

  remove(index: number): void {
    if (this.#unpacked === null) this.words[this.placeOf(index)] = NO_KEY;
    else this.#unpacked[index] = NOTHING;
  }
}
