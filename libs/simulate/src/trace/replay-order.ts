import type { LateEntries } from './time-order.js';
import { TimeOrder } from './time-order.js';
import { SecondSpreader } from './second-spreader.js';
import type { TraceEntry } from './trace-entry.js';

/** What becomes of a trace before it is replayed: sorted, and spread over its seconds where that is wanted. */
export class ReplayOrder {
  readonly #order: TimeOrder;
  readonly #spreader: SecondSpreader | undefined;

  constructor(settings: { readonly reorderWindowMs: number; readonly spreadSeconds: boolean }) {
    this.#order = new TimeOrder(settings.reorderWindowMs);
    this.#spreader = settings.spreadSeconds ? new SecondSpreader() : undefined;
  }

  get count(): number {
    return this.#order.count;
  }

  get late(): LateEntries {
    return this.#order.late;
  }

  /** Takes an entry, and gives those whose turn is known by now. */
  push(entry: TraceEntry): readonly TraceEntry[] {
    this.#order.push(entry);
    return this.#known(false);
  }

  /** Those that were held back. */
  rest(): readonly TraceEntry[] {
    const known = this.#known(true);
    return this.#spreader === undefined ? known : [...known, ...this.#spreader.rest()];
  }

  #known(isComplete: boolean): readonly TraceEntry[] {
    const known: TraceEntry[] = [];
    for (let next = this.#order.next(isComplete); next !== undefined; next = this.#order.next(isComplete)) {
      if (this.#spreader === undefined) known.push(next);
      else for (const spread of this.#spreader.push(next)) known.push(spread);
    }
    return known;
  }
}
