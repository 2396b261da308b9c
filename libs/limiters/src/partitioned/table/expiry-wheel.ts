import type { Clock } from '../../clock.js';
import { assertTimerIsSet } from '../../engine/clock-timer.js';
import { OnlyTimer } from '../../engine/only-timer.js';
import { readMilliseconds } from '../../engine/time-unit.js';
import { NO_ROW } from './rows.js';

/** What the wheel turns: rows, each in exactly one bucket as long as it is in use. */
export interface ExpiringRows {
  next(row: number): number;
  setNext(row: number, next: number): void;
  /** Looks at a row that has left its bucket. Returns when to look again, in clock milliseconds; `NaN`: never. */
  look(row: number): number;
  /** When a row could be wanted, without changing anything. */
  dueMs(row: number): number;
}

/** Rows due within this span are looked at together. */
const BUCKET_MS = 100;
/** Rows looked at in one go, so that however many are due at once, the event loop is never held. */
const SLICE = 2000;
/** Rows that a search looks at. What it doesn't come to, the next turn finds. */
const LOOKS = 64;

/**
 * Rows to be looked at when they are due, in buckets of {@link BUCKET_MS}: linked lists through a column of the
 * rows. There is one background timer, set for the first bucket while there is one.
 */
export class ExpiryWheel {
  readonly #clock: Clock;
  readonly #rows: ExpiringRows;
  /** The first row of each bucket, by the bucket's number. */
  readonly #buckets = new Map<number, number>();
  readonly #timer = new OnlyTimer();
  /** The bucket that the timer is set for, or is being set for. */
  #timerBucket = Infinity;
  #isStopped = false;
  /** No bucket has a lower number. */
  #oldest = Infinity;
  /** Before that no search finds anything: the last one has looked at everything. */
  #nothingBeforeMs = -Infinity;
  readonly #onTimer = (): void => {
    assertTimerIsSet(this.#onTimer);
    this.#disarm();
    try {
      this.#turn();
    } catch (error) {
      // The clock fails. Nobody else may come by to set the timer again.
      if (this.#buckets.size > 0) this.#setTimer(-Infinity, BUCKET_MS);
      throw error;
    }
  };

  constructor(clock: Clock, rows: ExpiringRows) {
    this.#clock = clock;
    this.#rows = rows;
  }

  add(row: number, dueMs: number): void {
    const number = bucketOf(dueMs);
    this.#rows.setNext(row, this.#buckets.get(number) ?? NO_ROW);
    this.#buckets.set(number, row);
    if (dueMs < this.#nothingBeforeMs) this.#nothingBeforeMs = dueMs;
    if (number < this.#oldest) this.#oldest = number;
    if (number < this.#timerBucket) this.#arm(number);
  }

  /**
   * Takes a due row out that is wanted. It looks at few, however many there are: a flood of searches must not cost more
   * than it asks for. Rows that aren't due any more move on, and a search in vain isn't repeated before something else
   * is due.
   */
  takeDue(isWanted: (row: number) => boolean): number {
    const nowMs = readMilliseconds(this.#clock);
    if (nowMs < this.#nothingBeforeMs) return NO_ROW;
    const current = bucketOf(nowMs);
    let nextMs = current * BUCKET_MS;
    let left = LOOKS;
    for (const number of this.#numbersUpTo(current)) {
      let before = NO_ROW;
      for (let row = this.#buckets.get(number)!, next: number; row !== NO_ROW; row = next) {
        next = this.#rows.next(row);
        if (isWanted(row)) {
          this.#unlink(number, row, before);
          return row;
        }
        if (--left === 0) {
          this.#nothingBeforeMs = nowMs + 1;
          return NO_ROW;
        }
        // What is due but can't go yet may be able to a moment later.
        const dueMs = Math.max(this.#rows.dueMs(row), nowMs + 1);
        if (bucketOf(dueMs) > current) {
          this.#unlink(number, row, before);
          this.add(row, dueMs);
        } else {
          nextMs = Math.min(nextMs, dueMs);
          before = row;
        }
      }
    }
    this.#nothingBeforeMs = nextMs;
    return NO_ROW;
  }

  /** The buckets that have come to their time, without a walk over all the others. */
  #numbersUpTo(current: number): number[] {
    if (current - this.#oldest > this.#buckets.size)
      return [...this.#buckets.keys()].filter((number) => number <= current);
    const numbers: number[] = [];
    for (let number = this.#oldest; number <= current; number++)
      if (this.#buckets.has(number)) numbers.push(number);
    return numbers;
  }

  stop(): void {
    this.#isStopped = true;
    this.#disarm();
    this.#buckets.clear();
  }

  #unlink(number: number, row: number, before: number): void {
    const next = this.#rows.next(row);
    if (before !== NO_ROW) this.#rows.setNext(before, next);
    else if (next !== NO_ROW) this.#buckets.set(number, next);
    else this.#buckets.delete(number);
  }

  #turn(): void {
    const current = Math.floor(readMilliseconds(this.#clock) / BUCKET_MS);
    let left = SLICE;
    for (const [number, first] of this.#buckets) {
      if (number > current) continue;
      this.#buckets.delete(number);
      left = this.#lookAt(number, first, left);
      if (left === 0) return this.#arm(-Infinity);
    }
    this.#armFirst();
  }

  /** Looks at the rows of a bucket; what is too much goes back into it. Returns how many more may be looked at. */
  #lookAt(number: number, first: number, left: number): number {
    let row = first;
    try {
      while (row !== NO_ROW && left > 0 && !this.#isStopped) {
        const looked = row;
        const next = this.#rows.next(row);
        const dueMs = this.#rows.look(row);
        row = next;
        left--;
        if (!Number.isNaN(dueMs)) this.add(looked, dueMs);
      }
    } finally {
      // Also where a look has failed: no other list has them.
      if (row !== NO_ROW && !this.#isStopped) this.#buckets.set(number, row);
    }
    return left;
  }

  #armFirst(): void {
    let first = Infinity;
    for (const number of this.#buckets.keys()) first = Math.min(first, number);
    this.#oldest = first;
    if (first !== Infinity) this.#arm(first);
  }

  /** Sets the timer for a bucket; for what is left of a turn, as soon as others have had the event loop. */
  #arm(number: number): void {
    const delayMs = Math.max(0, number * BUCKET_MS - readMilliseconds(this.#clock));
    // The clock may have run code of others by which it is set already.
    if (number < this.#timerBucket) this.#setTimer(number, delayMs);
  }

  #setTimer(number: number, delayMs: number): void {
    if (this.#isStopped) return;
    this.#timerBucket = number;
    try {
      this.#timer.set(this.#clock, this.#onTimer, delayMs, { background: true });
    } catch (error) {
      this.#disarm();
      throw error;
    }
  }

  #disarm(): void {
    this.#timerBucket = Infinity;
    this.#timer.cancel();
  }
}

/** The bucket whose turn comes strictly after the due time, at most {@link BUCKET_MS} later. */
function bucketOf(dueMs: number): number {
  return Math.floor(dueMs / BUCKET_MS) + 1;
}
