/** The least that a single fixed window can cost: two numbers and the clock. */
class MinimumOneWindow {
  #start = performance.now();
  #used = 0;
  #limit;
  #windowMs;

  constructor({ limit, windowMs }) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  decide() {
    const now = performance.now();
    if (now - this.#start >= this.#windowMs) {
      this.#start = now;
      this.#used = 0;
    }
    if (this.#used >= this.#limit) return false;
    this.#used++;
    return true;
  }
}

export const contestant = {
  title: 'minimum, window',
  create: (options) => new MinimumOneWindow(options),
};
