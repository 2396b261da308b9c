import type { TraceEntry } from './trace-entry.js';
import { placeOf } from './trace-entry.js';

/** More than so many are never held back: the oldest goes on. */
const MOST_HELD = 200_000;
/** The places of so many that have gone are given up together. */
const COMPACTED_AT = 10_000;
const LISTED = 5;

/** The requests that came too late in their log to be put into their place, and were left out. */
export interface LateEntries {
  /** How many there were. */
  readonly count: number;
  /** Where the first few of them stand. */
  readonly places: readonly string[];
}

/**
 * Puts requests into the order of time: a log is written when requests end, or by several workers. It holds entries
 * back until one is a window younger, so its memory is bounded by the window, and by a number. Most entries come in
 * order and go to the end; the place of another is searched.
 */
export class TimeOrder {
  readonly #windowMs: number;
  readonly #latePlaces: string[] = [];
  #held: TraceEntry[] = [];
  /** Those before it have gone. */
  #head = 0;
  #lateCount = 0;
  #count = 0;
  #passedMs = -Infinity;

  /** @param windowMs - how far a request may stand behind a younger one. */
  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  get late(): LateEntries {
    return { count: this.#lateCount, places: this.#latePlaces };
  }

  /** How many entries there were, the late ones included. */
  get count(): number {
    return this.#count;
  }

  push(entry: TraceEntry): void {
    const number = ++this.#count;
    const newest = this.#held.at(-1);
    if (newest === undefined ? entry.timeMs >= this.#passedMs : entry.timeMs >= newest.timeMs) {
      this.#held.push(entry);
    } else if (entry.timeMs >= this.#passedMs) {
      this.#held.splice(this.#placeFor(entry.timeMs), 0, entry);
    } else {
      this.#lateCount++;
      if (this.#latePlaces.length < LISTED) this.#latePlaces.push(placeOf(entry, number));
    }
  }

  /**
   * The next in the order of time, where it is known by now.
   * @param isComplete - nothing more will come.
   */
  next(isComplete: boolean): TraceEntry | undefined {
    const first = this.#held[this.#head];
    if (first === undefined) return undefined;
    const isKnown =
      isComplete ||
      first.timeMs <= this.#held.at(-1)!.timeMs - this.#windowMs ||
      this.#held.length - this.#head > MOST_HELD;
    if (!isKnown) return undefined;
    this.#passedMs = first.timeMs;
    this.#head++;
    if (this.#head === this.#held.length || this.#head >= COMPACTED_AT) this.#compact();
    return first;
  }

  /** Behind all that aren't younger: at the same time the order of the log decides. */
  #placeFor(timeMs: number): number {
    let [low, high] = [this.#head, this.#held.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#held[middle]!.timeMs <= timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compact(): void {
    this.#held = this.#held.slice(this.#head);
    this.#head = 0;
  }
}
