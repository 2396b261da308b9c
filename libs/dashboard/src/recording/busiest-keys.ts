/** What is known of a busy key. */
export interface BusyKey {
  readonly key: string;
  /** Requests, at most; really `requests` − `overestimate` at least. */
  readonly requests: number;
  readonly overestimate: number;
  /** Of these, refused; at least. */
  readonly refused: number;
}

type Counter = { -readonly [Name in keyof BusyKey]: BusyKey[Name] };

/** How many keys are counted at a time. */
export const KEYS_COUNTED = 50;

/**
 * The busiest of any number of keys, by the counters of 50: a new key takes the counter of the one counted least,
 * and its count as its possible error. Whoever makes more than 2 % of the requests is certainly among them.
 * Space-Saving: Metwally, Agrawal and El Abbadi, "Efficient computation of frequent and top-k elements in data
 * streams", 2005.
 */
export class BusiestKeys {
  readonly #counters = new Map<string, Counter>();

  /** Counts a request. */
  count(key: string, isRefused: boolean): void {
    const counter = this.#counters.get(key) ?? this.#counterFor(key);
    counter.requests++;
    if (isRefused) counter.refused++;
  }

  /** All that are counted, in no order. */
  get keys(): Iterable<BusyKey> {
    return this.#counters.values();
  }

  #counterFor(key: string): Counter {
    const overestimate = this.#counters.size < KEYS_COUNTED ? 0 : this.#dropLeast();
    const counter = { key, requests: overestimate, overestimate, refused: 0 };
    this.#counters.set(key, counter);
    return counter;
  }

  #dropLeast(): number {
    let least: Counter | undefined;
    for (const counter of this.#counters.values()) {
      if (least === undefined || counter.requests < least.requests) least = counter;
    }
    this.#counters.delete(least!.key);
    return least!.requests;
  }
}
