import type { WaitingPermits } from '../engine/algorithm.js';
import { HALF_A_NANOSECOND_MS } from '../engine/time-unit.js';
import { DeadlineHeap } from './deadline-heap.js';
import { WaiterList } from './waiter-list.js';
import type { Waiter, WaitingPlace } from './waiter.js';

/** Which waiter is served first. */
export type QueueProcessingOrder = 'oldestFirst' | 'newestFirst';

/**
 * The one wait queue of all limiters. Any waiter can leave in constant time, and nothing of it stays behind.
 * Waiters that reserve stand before all others, in the order they came.
 */
export class WaitQueue implements WaitingPermits {
  /** The sum of the permits asked for. */
  permits = 0;
  /** How many wait, and how many of them ask for permits at all. */
  count = 0;
  withPermits = 0;
  isNewestFirst: boolean;
  readonly #waiters = new WaiterList(this);
  /** Those that reserve; hardly ever is there one. */
  #reserving: WaiterList | null = null;
  #deadlines: DeadlineHeap | null = null;

  constructor(isNewestFirst: boolean) {
    this.isNewestFirst = isNewestFirst;
  }

  /** The waiter to be served next. */
  get inTurn(): Waiter | null {
    const reserving = this.#reserving === null ? null : this.#reserving.oldest;
    if (reserving !== null) return reserving;
    return this.isNewestFirst ? this.#waiters.newest : this.#waiters.oldest;
  }

  /** The one that a newer request displaces first. */
  get oldest(): Waiter | null {
    return this.#waiters.oldest;
  }

  get hasReserving(): boolean {
    return this.#reserving !== null && this.#reserving.oldest !== null;
  }

  /** What those ask for who can't be displaced: the ones that reserve. */
  get reservingPermits(): number {
    let permits = 0;
    for (const waiter of this.#reserving?.toArray() ?? []) permits += waiter.permits;
    return permits;
  }

  /** The deadline that comes first, in clock milliseconds. */
  get firstDeadlineMs(): number {
    return this.#deadlines === null ? Infinity : (this.#deadlines.first?.deadlineMs ?? Infinity);
  }

  /** The waiter whose deadline has come, if any. */
  overdue(nowMs: number): Waiter | undefined {
    const first = this.#deadlines?.first;
    return first !== undefined && first.deadlineMs - nowMs < HALF_A_NANOSECOND_MS ? first : undefined;
  }

  add(waiter: Waiter, place: WaitingPlace): void {
    waiter.place = place;
    if (waiter.isReserving) (this.#reserving ??= new WaiterList(this)).add(waiter);
    else this.#waiters.add(waiter);
    this.permits += waiter.permits;
    this.count++;
    if (waiter.permits > 0) this.withPermits++;
    if (waiter.deadlineMs === Infinity) return;
    this.#deadlines ??= new DeadlineHeap();
    this.#deadlines.add(waiter);
  }

  delete(waiter: Waiter): void {
    waiter.segment!.list.delete(waiter);
    waiter.place = null;
    this.permits -= waiter.permits;
    this.count--;
    if (waiter.permits > 0) this.withPermits--;
    if (this.#deadlines !== null) this.#deadlines.delete(waiter);
  }

  /** A waiter keeps its place, but needs fewer permits. */
  lower(waiter: Waiter, permits: number): void {
    if (waiter.permits > 0 && permits === 0) this.withPermits--;
    this.permits -= waiter.permits - permits;
    waiter.permits = permits;
  }

  forEachInTurn(visit: (permits: number) => void): void {
    for (const waiter of this.#listInOrder()) visit(waiter.permits);
  }

  /** The waiters in the order of service; those that leave meanwhile are passed over. */
  *inOrder(): IterableIterator<Waiter> {
    for (const waiter of this.#listInOrder()) if (waiter.queue === this) yield waiter;
  }

  #listInOrder(): Waiter[] {
    const waiters = this.#waiters.toArray();
    if (this.isNewestFirst) waiters.reverse();
    return this.#reserving === null ? waiters : [...this.#reserving.toArray(), ...waiters];
  }
}
