const LOOKED_AT_PER_NEW_KEY = 2;
const TOKENS = 0;
const SEEN = 1;
const CELLS = 2;

/** The least that a token bucket per key can cost, made like the minimum of the window. */
class MinimumBucket {
  #slots = new Map();
  #keys = [];
  #cells = new Float64Array(1024);
  #free = [];
  #hand = 0;
  #limit;
  #windowMs;
  #tokensPerMs;

  constructor({ limit, windowMs }) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#tokensPerMs = limit / windowMs;
  }

  decide(key) {
    const now = performance.now();
    const at = this.#slots.get(key) ?? this.#add(key, now);
    const cells = this.#cells;
    const refilled = cells[at + TOKENS] + (now - cells[at + SEEN]) * this.#tokensPerMs;
    const tokens = refilled < this.#limit ? refilled : this.#limit;
    const isGranted = tokens >= 1;
    cells[at + SEEN] = now;
    cells[at + TOKENS] = isGranted ? tokens - 1 : tokens;
    return isGranted;
  }

  #add(key, now) {
    this.#evictSome(now);
    const at = this.#free.pop() ?? this.#keys.length * CELLS;
    if (at === this.#cells.length) this.#grow();
    this.#keys[at / CELLS] = key;
    this.#cells[at + TOKENS] = this.#limit;
    this.#cells[at + SEEN] = now;
    this.#slots.set(key, at);
    return at;
  }

  #evictSome(now) {
    for (let looks = Math.min(LOOKED_AT_PER_NEW_KEY, this.#keys.length); looks > 0; looks--) {
      const slot = this.#hand;
      this.#hand = (slot + 1) % this.#keys.length;
      if (this.#keys[slot] === undefined) continue;
      // Unseen for as long as the whole bucket takes to fill: it is full.
      if (now - this.#cells[slot * CELLS + SEEN] < this.#windowMs) continue;
      this.#slots.delete(this.#keys[slot]);
      this.#keys[slot] = undefined;
      this.#free.push(slot * CELLS);
    }
  }

  #grow() {
    const cells = new Float64Array(this.#cells.length * 2);
    cells.set(this.#cells);
    this.#cells = cells;
  }
}

export const contestant = {
  title: 'minimum, bucket',
  create: (options) => new MinimumBucket(options),
};
