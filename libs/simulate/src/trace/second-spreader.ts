import type { TraceEntry } from './trace-entry.js';
import { atTime } from './trace-entry.js';

const SECOND_MS = 1_000;

/**
 * Spreads the requests of a second evenly over it, in their order, where all of them are said to have come in its first
 * instant: that is how a log in whole seconds writes them, and no limit of short bursts would survive it.
 */
export class SecondSpreader {
  #second = NaN;
  #entries: TraceEntry[] = [];

  /** Takes the next entry in the order of time, and gives those of the second before once it is over. */
  push(entry: TraceEntry): readonly TraceEntry[] {
    const second = Math.floor(entry.timeMs / SECOND_MS);
    if (second === this.#second) {
      this.#entries.push(entry);
      return [];
    }
    const before = this.rest();
    this.#second = second;
    this.#entries = [entry];
    return before;
  }

  /** Those of the last second. */
  rest(): readonly TraceEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    const startMs = this.#second * SECOND_MS;
    if (entries.length < 2 || entries.some(({ timeMs }) => timeMs !== startMs)) return entries;
    return entries.map((entry, index) =>
      atTime(entry, startMs + Math.floor((index * SECOND_MS) / entries.length)),
    );
  }
}
