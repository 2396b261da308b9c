const LOOKED_AT_PER_NEW_KEY = 2;

/**
 * The least that a fixed window per key can cost: a `Map` from key to slot, the state in typed arrays, no lease, no
 * timer. Each new key looks at two old ones and throws away those whose window is over.
 */
class MinimumWindow {
  #slots = new Map();
  #keys = [];
  #starts = new Float64Array(1024);
  #used = new Uint32Array(1024);
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
    const slot = this.#slots.get(key) ?? this.#add(key, now);
    if (now - this.#starts[slot] >= this.#windowMs) {
      this.#starts[slot] = now;
      this.#used[slot] = 0;
    }
    if (this.#used[slot] >= this.#limit) return false;
    this.#used[slot]++;
    return true;
  }

  #add(key, now) {
    this.#evictSome(now);
    const slot = this.#free.pop() ?? this.#keys.length;
    if (slot === this.#starts.length) this.#grow();
    this.#keys[slot] = key;
    this.#starts[slot] = now;
    this.#used[slot] = 0;
    this.#slots.set(key, slot);
    return slot;
  }

  #evictSome(now) {
    for (let looks = Math.min(LOOKED_AT_PER_NEW_KEY, this.#keys.length); looks > 0; looks--) {
      const slot = this.#hand;
      this.#hand = (slot + 1) % this.#keys.length;
      if (this.#keys[slot] === undefined || now - this.#starts[slot] < this.#windowMs) continue;
      this.#slots.delete(this.#keys[slot]);
      this.#keys[slot] = undefined;
      this.#free.push(slot);
    }
  }

  #grow() {
    const starts = new Float64Array(this.#starts.length * 2);
    starts.set(this.#starts);
    this.#starts = starts;
    const used = new Uint32Array(this.#used.length * 2);
    used.set(this.#used);
    this.#used = used;
  }
}

export const contestant = {
  title: 'minimum, window',
  create: (options) => new MinimumWindow(options),
};
