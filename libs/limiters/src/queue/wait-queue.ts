import type { WaitingPermits } from '../engine/algorithm.js';
import { DeadlineHeap } from './deadline-heap.js';
import type { Waiter, WaitingPlace } from './waiter.js';

/** Which waiter is served first. */
export type QueueProcessingOrder = 'oldestFirst' | 'newestFirst';

/**
 * The one wait queue of all limiters: a doubly linked list of the waiters themselves, so that any of them can
 * leave in constant time and nothing of it stays behind. Waiters that reserve stand before all others, in the
 * order they came.
 */
export class WaitQueue implements WaitingPermits {
  /** The sum of the permits asked for. */
  permits = 0;
  /** How many wait, and how many of them ask for permits at all. */
  count = 0;
  withPermits = 0;
  isNewestFirst: boolean;
  #oldest: Waiter | null = null;
  #newest: Waiter | null = null;
  /** Those that reserve; hardly ever is there one. */
  #reserving: Set<Waiter> | null = null;
  #deadlines: DeadlineHeap | null = null;

  constructor(isNewestFirst: boolean) {
    this.isNewestFirst = isNewestFirst;
  }

  /** The waiter to be served next. */
  get inTurn(): Waiter | null {
    if (this.hasReserving) for (const waiter of this.#reserving!) return waiter;
    return this.#first();
  }

  /** The one that a newer request displaces first. */
  get oldest(): Waiter | null {
    return this.#oldest;
  }

  get hasReserving(): boolean {
    return this.#reserving !== null && this.#reserving.size > 0;
  }

  /** The deadline that comes first, in clock milliseconds. */
  get firstDeadlineMs(): number {
    return this.#deadlines?.first?.deadlineMs ?? Infinity;
  }

  /** The waiter whose deadline has come, if any. */
  overdue(nowMs: number): Waiter | undefined {
    const first = this.#deadlines?.first;
    return first !== undefined && first.deadlineMs <= nowMs ? first : undefined;
  }

  add(waiter: Waiter, place: WaitingPlace): void {
    waiter.queue = this;
    waiter.place = place;
    if (waiter.isReserving) (this.#reserving ??= new Set()).add(waiter);
    else this.#append(waiter);
    this.permits += waiter.permits;
    this.count++;
    if (waiter.permits > 0) this.withPermits++;
    if (waiter.deadlineMs === Infinity) return;
    this.#deadlines ??= new DeadlineHeap();
    this.#deadlines.add(waiter);
  }

  delete(waiter: Waiter): void {
    if (this.#reserving === null || !this.#reserving.delete(waiter)) this.#unlink(waiter);
    waiter.queue = null;
    waiter.place = null;
    this.permits -= waiter.permits;
    this.count--;
    if (waiter.permits > 0) this.withPermits--;
    this.#deadlines?.delete(waiter);
  }

  forEachInTurn(visit: (permits: number) => void): void {
    for (const waiter of this.#reserving ?? []) visit(waiter.permits);
    for (let waiter = this.#first(); waiter !== null; waiter = this.#after(waiter)) visit(waiter.permits);
  }

  /** The waiters in the order of service; those that leave meanwhile are passed over. */
  *inOrder(): IterableIterator<Waiter> {
    for (const waiter of [...(this.#reserving ?? [])]) if (waiter.queue === this) yield waiter;
    let next = this.#first();
    while (next !== null) {
      const waiter = next;
      next = this.#after(waiter);
      yield waiter;
      if (next !== null && next.queue !== this) next = this.#first();
    }
  }

  #first(): Waiter | null {
    return this.isNewestFirst ? this.#newest : this.#oldest;
  }

  #after(waiter: Waiter): Waiter | null {
    return this.isNewestFirst ? waiter.older : waiter.newer;
  }

  #append(waiter: Waiter): void {
    waiter.older = this.#newest;
    if (this.#newest === null) this.#oldest = waiter;
    else this.#newest.newer = waiter;
    this.#newest = waiter;
  }

  #unlink(waiter: Waiter): void {
    const { older, newer } = waiter;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    waiter.older = null;
    waiter.newer = null;
  }
}
