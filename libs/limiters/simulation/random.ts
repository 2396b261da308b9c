const MODULUS = 2 ** 31 - 1;
const MULTIPLIER = 48_271;

/** Numbers that look random and are the same for the same seed: the generator of Park and Miller ("minimal standard"). */
export class Random {
  #state: number;

  /** @param seed - a whole number from 1 to 2^31 - 2. */
  constructor(seed: number) {
    this.#state = seed;
  }

  /** Between 0 and 1. */
  next(): number {
    this.#state = (this.#state * MULTIPLIER) % MODULUS;
    return this.#state / MODULUS;
  }

  /** A whole number in a range, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** The time to the next of events that come independently of each other, in whole milliseconds. */
  untilNext(meanMs: number): number {
    return Math.max(1, Math.round(-meanMs * Math.log(this.next())));
  }
}
