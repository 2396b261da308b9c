const LOOKED_AT_PER_NEW_KEY = 2;

/** The least that a token bucket per key can cost, made like the minimum of the window. */
class MinimumBucket {
  #slots = new Map();
  #keys = [];
  #tokens = new Float64Array(1024);
  #seen = new Float64Array(1024);
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
    const slot = this.#slots.get(key) ?? this.#add(key, now);
    const refilled = this.#tokens[slot] + (now - this.#seen[slot]) * this.#tokensPerMs;
    const tokens = refilled < this.#limit ? refilled : this.#limit;
    this.#seen[slot] = now;
    const isGranted = tokens >= 1;
    this.#tokens[slot] = isGranted ? tokens - 1 : tokens;
    return isGranted;
  }

  #add(key, now) {
    this.#evictSome(now);
    const slot = this.#free.pop() ?? this.#keys.length;
    if (slot === this.#seen.length) this.#grow();
    this.#keys[slot] = key;
    this.#tokens[slot] = this.#limit;
    this.#seen[slot] = now;
    this.#slots.set(key, slot);
    return slot;
  }

  #evictSome(now) {
    for (let looks = Math.min(LOOKED_AT_PER_NEW_KEY, this.#keys.length); looks > 0; looks--) {
      const slot = this.#hand;
      this.#hand = (slot + 1) % this.#keys.length;
      // Unseen for as long as the whole bucket takes to fill: it is full.
      if (this.#keys[slot] === undefined || now - this.#seen[slot] < this.#windowMs) continue;
      this.#slots.delete(this.#keys[slot]);
      this.#keys[slot] = undefined;
      this.#free.push(slot);
    }
  }

  #grow() {
    const tokens = new Float64Array(this.#tokens.length * 2);
    tokens.set(this.#tokens);
    this.#tokens = tokens;
    const seen = new Float64Array(this.#seen.length * 2);
    seen.set(this.#seen);
    this.#seen = seen;
  }
}

export const contestant = {
  title: 'minimum, bucket',
  create: (options) => new MinimumBucket(options),
};
