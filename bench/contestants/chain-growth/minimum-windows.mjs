/** Nothing comes back while it is measured. */
const WINDOW_MS = 600_000;
const LIMIT = 1_000_000_000;

/** The least that several fixed windows can cost: the clock once, all looked at before all are counted in. */
class MinimumWindows {
  #starts;
  #used;

  constructor(length) {
    this.#starts = Array.from({ length }, () => performance.now());
    this.#used = Array.from({ length }, () => 0);
  }

  decide() {
    const now = performance.now();
    const used = this.#used;
    for (let at = 0; at < used.length; at++) {
      if (now - this.#starts[at] >= WINDOW_MS) {
        this.#starts[at] = now;
        used[at] = 0;
      }
      if (used[at] >= LIMIT) return false;
    }
    for (let at = 0; at < used.length; at++) used[at]++;
    return true;
  }
}

export const contestant = {
  title: 'minimum, windows granted',
  create(length) {
    const windows = new MinimumWindows(length);
    return { decide: () => windows.decide() };
  },
};
