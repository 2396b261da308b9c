/** The least that a single token bucket can cost: two numbers and the clock. */
class MinimumOneBucket {
  #tokens;
  #seen = performance.now();
  #limit;
  #tokensPerMs;

  constructor({ limit, windowMs }) {
    this.#tokens = limit;
    this.#limit = limit;
    this.#tokensPerMs = limit / windowMs;
  }

  decide() {
    const now = performance.now();
    const refilled = this.#tokens + (now - this.#seen) * this.#tokensPerMs;
    const tokens = refilled < this.#limit ? refilled : this.#limit;
    this.#seen = now;
    const isGranted = tokens >= 1;
    this.#tokens = isGranted ? tokens - 1 : tokens;
    return isGranted;
  }
}

export const contestant = {
  title: 'minimum, bucket',
  create: (options) => new MinimumOneBucket(options),
};
