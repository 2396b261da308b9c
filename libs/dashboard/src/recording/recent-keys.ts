import type { BusyKey } from './busiest-keys.js';
import { BusiestKeys } from './busiest-keys.js';

/** Half of what is remembered: keys are forgotten after two to five minutes. */
export const GENERATION_SECONDS = 150;

/** The busiest keys of the last minutes: two generations of counters, of which the elder is forgotten in one go. */
export class RecentKeys {
  #generation = 0;
  #younger = new BusiestKeys();
  #elder = new BusiestKeys();

  /** Counts a request. */
  count(second: number, key: string, isRefused: boolean): void {
    this.#turn(second);
    this.#younger.count(key, isRefused);
  }

  /** The busiest, the first before the others. */
  top(second: number, length: number): readonly BusyKey[] {
    this.#turn(second);
    const sums = new Map<string, BusyKey>();
    for (const { keys } of [this.#younger, this.#elder]) {
      for (const key of keys) sums.set(key.key, sumOf(key, sums.get(key.key)));
    }
    return [...sums.values()].sort((one, other) => other.requests - one.requests).slice(0, length);
  }

  #turn(second: number): void {
    const generation = Math.floor(second / GENERATION_SECONDS);
    if (generation <= this.#generation) return;
    this.#elder = generation === this.#generation + 1 ? this.#younger : new BusiestKeys();
    this.#younger = new BusiestKeys();
    this.#generation = generation;
  }
}

function sumOf(one: BusyKey, other: BusyKey | undefined): BusyKey {
  if (other === undefined) return one;
  return {
    key: one.key,
    requests: one.requests + other.requests,
    overestimate: one.overestimate + other.overestimate,
    refused: one.refused + other.refused,
  };
}
