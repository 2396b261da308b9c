import type { WaitQueue } from './wait-queue.js';
import type { Waiter } from './waiter.js';

/** Waiters side by side in one array: few enough that one who stays behind alone keeps little memory. */
const SEGMENT_SIZE = 128;

/** A stretch of a list; who has left it leaves a gap. */
export class WaiterSegment {
  readonly list: WaiterList;
  readonly waiters: (Waiter | null)[] = [];
  /** Before this index nobody is left. */
  start = 0;
  /** How many are left. */
  count = 0;
  older: WaiterSegment | null = null;
  newer: WaiterSegment | null = null;

  constructor(list: WaiterList) {
    this.list = list;
  }
}

/**
 * Waiters in the order they came, any of whom can leave in constant time. They stand in arrays that are linked, not
 * linked themselves: a garbage collector can follow links only one after the other, while it goes through an array
 * with all its threads. Of ten thousand linked waiters every young collection costs the main thread twice as much.
 */
export class WaiterList {
  readonly queue: WaitQueue;
  #oldest: WaiterSegment;
  #newest: WaiterSegment;

  constructor(queue: WaitQueue) {
    this.queue = queue;
    this.#oldest = this.#newest = new WaiterSegment(this);
  }

  get oldest(): Waiter | null {
    const { count, waiters, start } = this.#oldest;
    return count === 0 ? null : waiters[start]!;
  }

  get newest(): Waiter | null {
    const { count, waiters } = this.#newest;
    return count === 0 ? null : waiters[waiters.length - 1]!;
  }

  add(waiter: Waiter): void {
    let segment = this.#newest;
    if (segment.waiters.length === SEGMENT_SIZE) segment = this.#extend();
    waiter.segment = segment;
    waiter.index = segment.waiters.length;
    segment.waiters.push(waiter);
    segment.count++;
  }

  delete(waiter: Waiter): void {
    const segment = waiter.segment!;
    segment.waiters[waiter.index] = null;
    segment.count--;
    waiter.segment = null;
    if (segment.count === 0) this.#removeEmpty(segment);
    else if (waiter.index === segment.start) skipGaps(segment);
    trimGaps(this.#newest);
  }

  /** Those who stood here at this moment, the oldest first. */
  toArray(): Waiter[] {
    const all: Waiter[] = [];
    for (let segment: WaiterSegment | null = this.#oldest; segment !== null; segment = segment.newer) {
      for (let index = segment.start; index < segment.waiters.length; index++) {
        const waiter = segment.waiters[index]!;
        if (waiter !== null) all.push(waiter);
      }
    }
    return all;
  }

  #extend(): WaiterSegment {
    const full = this.#newest;
    const segment = new WaiterSegment(this);
    this.#newest = segment;
    if (full.count === 0) {
      this.#oldest = segment;
      return segment;
    }
    full.newer = segment;
    segment.older = full;
    return segment;
  }

  /** The last one stays: an empty list has one segment. */
  #removeEmpty(segment: WaiterSegment): void {
    const { older, newer, waiters } = segment;
    segment.start = waiters.length;
    if (older === null && newer === null) return;
    if (older === null) this.#oldest = newer!;
    else older.newer = newer;
    if (newer === null) this.#newest = older!;
    else newer.older = older;
    segment.older = null;
    segment.newer = null;
  }
}

function skipGaps(segment: WaiterSegment): void {
  const { waiters } = segment;
  let { start } = segment;
  while (waiters[start] === null) start++;
  segment.start = start;
}

/** So that the newest of all is found at once. */
function trimGaps({ count, waiters }: WaiterSegment): void {
  if (count === 0) return;
  while (waiters[waiters.length - 1] === null) waiters.pop();
}
