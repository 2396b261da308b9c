import type { Waiter } from './waiter.js';

/** The waiters of a queue that have a deadline, the earliest first: a binary heap that knows where each one is. */
export class DeadlineHeap {
  readonly #waiters: Waiter[] = [];

  /** The waiter whose time is over first. */
  get first(): Waiter | undefined {
    return this.#waiters[0];
  }

  add(waiter: Waiter): void {
    this.#waiters.push(waiter);
    this.#rise(waiter, this.#waiters.length - 1);
  }

  delete(waiter: Waiter): void {
    const { bounds } = waiter;
    if (bounds === null || bounds.deadlineIndex < 0) return;
    const index = bounds.deadlineIndex;
    bounds.deadlineIndex = -1;
    const last = this.#waiters.pop()!;
    if (last === waiter) return;
    this.#rise(last, index);
    this.#sink(last, last.bounds!.deadlineIndex);
  }

  #rise(waiter: Waiter, index: number): void {
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#waiters[parent]!;
      if (above.deadlineMs <= waiter.deadlineMs) break;
      this.#put(above, index);
      index = parent;
    }
    this.#put(waiter, index);
  }

  #sink(waiter: Waiter, index: number): void {
    const count = this.#waiters.length;
    for (let child = 2 * index + 1; child < count; child = 2 * index + 1) {
      if (child + 1 < count && this.#waiters[child + 1]!.deadlineMs < this.#waiters[child]!.deadlineMs)
        child++;
      const below = this.#waiters[child]!;
      if (waiter.deadlineMs <= below.deadlineMs) break;
      this.#put(below, index);
      index = child;
    }
    this.#put(waiter, index);
  }

  #put(waiter: Waiter, index: number): void {
    this.#waiters[index] = waiter;
    waiter.bounds!.deadlineIndex = index;
  }
}
