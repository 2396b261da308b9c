import type { WaitReport } from './simulation-report.js';

const MOST_DIFFERENT = 10_000;
/** Neighbouring values are 1 % apart, once they are merged. */
const STEP = Math.log(1.01);

/** How long requests waited: each different time with its number, merged by steps of 1 % when there are too many. */
export class WaitTimes {
  #counts = new Map<number, number>();
  #total = 0;
  #maxMs = 0;
  #isMerged = false;

  add(ms: number): void {
    this.#total++;
    this.#maxMs = Math.max(this.#maxMs, ms);
    const value = this.#isMerged ? merged(ms) : ms;
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
    if (!this.#isMerged && this.#counts.size > MOST_DIFFERENT) this.#merge();
  }

  report(): WaitReport | null {
    if (this.#total === 0) return null;
    const sorted = [...this.#counts].sort(([left], [right]) => left - right);
    return { medianMs: this.#quantile(sorted, 0.5), p95Ms: this.#quantile(sorted, 0.95), maxMs: this.#maxMs };
  }

  /** The smallest value that so large a share doesn't exceed. */
  #quantile(sorted: readonly (readonly [number, number])[], share: number): number {
    let left = Math.ceil(this.#total * share);
    for (const [value, count] of sorted) {
      left -= count;
      if (left <= 0) return Math.min(value, this.#maxMs);
    }
    return this.#maxMs;
  }

  #merge(): void {
    const counts = new Map<number, number>();
    for (const [value, count] of this.#counts)
      counts.set(merged(value), (counts.get(merged(value)) ?? 0) + count);
    this.#counts = counts;
    this.#isMerged = true;
  }
}

function merged(ms: number): number {
  return Math.exp(Math.ceil(Math.log(ms) / STEP) * STEP);
}
