/**
 * The least that a queue for permits can cost: those who wait in a ring that grows by doubling. Aborted ones leave
 * their place empty, and go at once.
 */
class MinimumQueue {
  #free;
  #ring = Array.from({ length: 16 });
  #head = 0;
  #tail = 0;

  constructor(limit) {
    this.#free = limit;
  }

  acquire(signal) {
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const waiter = { resolve, signal: undefined, onAbort: undefined };
      if (signal !== undefined) this.#watch(waiter, signal, reject);
      this.#push(waiter);
    });
  }

  release() {
    while (this.#head !== this.#tail) {
      const at = this.#head++ & (this.#ring.length - 1);
      const { resolve, signal, onAbort } = this.#ring[at];
      this.#ring[at] = undefined;
      if (resolve === undefined) continue;
      signal?.removeEventListener('abort', onAbort);
      resolve();
      return;
    }
    this.#free++;
  }

  #watch(waiter, signal, reject) {
    waiter.signal = signal;
    waiter.onAbort = () => {
      waiter.resolve = undefined;
      reject(signal.reason);
    };
    signal.addEventListener('abort', waiter.onAbort, { once: true });
  }

  #push(waiter) {
    if (this.#tail - this.#head === this.#ring.length) this.#grow();
    this.#ring[this.#tail++ & (this.#ring.length - 1)] = waiter;
  }

  #grow() {
    const size = this.#ring.length;
    const first = this.#head & (size - 1);
    this.#ring = [...this.#ring.slice(first), ...this.#ring.slice(0, first), ...Array.from({ length: size })];
    this.#head = 0;
    this.#tail = size;
  }
}

export const contestant = {
  title: 'minimum',
  create({ limit }) {
    const queue = new MinimumQueue(limit);
    return {
      async run(task, signal) {
        await queue.acquire(signal);
        try {
          return await task();
        } finally {
          queue.release();
        }
      },
      async runSync(work) {
        await queue.acquire();
        try {
          return work();
        } finally {
          queue.release();
        }
      },
    };
  },
};
