const LOOKED_AT_PER_NEW_KEY = 2;
const START = 0;
const USED = 1;
const CELLS = 2;

/**
 * The least that a fixed window per key can cost: a `Map` from key to place, the state in a typed array, no lease, no
 * timer. Each new key looks at two old ones and throws away those whose window is over.
 */
class MinimumWindow {
  #slots = new Map();
  #keys = [];
  #cells = new Float64Array(1024);
  #free = [];
  #hand = 0;
  #limit;
  #windowMs;

  constructor({ limit, windowMs }) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  decide(key) {
    const now = performance.now();
    const at = this.#slots.get(key) ?? this.#add(key, now);
    const cells = this.#cells;
    if (now - cells[at + START] >= this.#windowMs) {
      cells[at + START] = now;
      cells[at + USED] = 0;
    }
    if (cells[at + USED] >= this.#limit) return false;
    cells[at + USED]++;
    return true;
  }

  #add(key, now) {
    this.#evictSome(now);
    const at = this.#free.pop() ?? this.#keys.length * CELLS;
    if (at === this.#cells.length) this.#grow();
    this.#keys[at / CELLS] = key;
    this.#cells[at + START] = now;
    this.#cells[at + USED] = 0;
    this.#slots.set(key, at);
    return at;
  }

  #evictSome(now) {
    for (let looks = Math.min(LOOKED_AT_PER_NEW_KEY, this.#keys.length); looks > 0; looks--) {
      const slot = this.#hand;
      this.#hand = (slot + 1) % this.#keys.length;
      if (this.#keys[slot] === undefined) continue;
      if (now - this.#cells[slot * CELLS + START] < this.#windowMs) continue;
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
  title: 'minimum, window',
  create: (options) => new MinimumWindow(options),
};
