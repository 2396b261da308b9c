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

/** A search for a row that is due and wanted. */
interface Search {
  readonly isWanted: (row: number) => boolean;
  readonly nowMs: number;
  /** Before that no row that was passed over can be wanted. */
  nextMs: number;
  /** How many more may be passed over. */
  left: number;
}

/**
 * Rows to be looked at when they are due, in buckets of {@link BUCKET_MS}: linked lists through a column of the
 * rows. There is one background timer, set for the first bucket while there is one.
 */
export class ExpiryWheel {
  readonly #clock: Clock;
  readonly #rows: ExpiringRows;
  /** The last row of each bucket, by the bucket's number; the first one follows it. */
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
    if (dueMs < this.#nothingBeforeMs) this.#nothingBeforeMs = dueMs;
    const number = bucketOf(dueMs);
    this.#put(number, row);
    if (number < this.#timerBucket) this.#arm(number);
  }

  /**
   * Takes a due row out that is wanted. It looks at few, however many there are: a flood of searches must not cost more
   * than it asks for. Rows that aren't due any more move on, those that can't go yet stand behind the others of their
   * bucket, for the next search to come to these, and a search in vain isn't repeated before something else is due.
   */
  takeDue(isWanted: (row: number) => boolean): number {
    const nowMs = readMilliseconds(this.#clock);
    if (nowMs < this.#nothingBeforeMs) return NO_ROW;
    const current = bucketOf(nowMs);
    const search = { isWanted, nowMs, nextMs: current * BUCKET_MS, left: LOOKS };
    for (const number of this.#numbersUpTo(current)) {
      const found = this.#searchIn(number, search);
      if (found !== NO_ROW) return found;
      if (search.left === 0) break;
    }
    this.#nothingBeforeMs = search.left === 0 ? nowMs + 1 : search.nextMs;
    return NO_ROW;
  }

  /**
   * No list of the wheel's has a row while it is asked: that may run code of others, which searches and adds rows itself.
   */
  #searchIn(number: number, search: Search): number {
    const passedOver = { first: NO_ROW, last: NO_ROW };
    try {
      for (let row = this.#shift(number); row !== NO_ROW; row = this.#shift(number)) {
        const before = passedOver.last;
        this.#join(passedOver, row);
        const dueMs = this.#dueUnlessWanted(row, search);
        if (search.left === 0) return NO_ROW;
        if (bucketOf(dueMs) <= bucketOf(search.nowMs)) {
          search.nextMs = Math.min(search.nextMs, dueMs);
          continue;
        }
        passedOver.last = before;
        if (Number.isNaN(dueMs)) return row;
        this.add(row, dueMs);
      }
      return NO_ROW;
    } finally {
      if (passedOver.last !== NO_ROW && !this.#isStopped) {
        this.#append(number, passedOver.first, passedOver.last);
        if (number < this.#timerBucket) this.#arm(number);
      }
    }
  }

  /** When to look again at a row that can't go now; `NaN`: it can. */
  #dueUnlessWanted(row: number, search: Search): number {
    if (search.isWanted(row)) return NaN;
    // What is due but can't go yet may be able to a moment later.
    return --search.left === 0 ? search.nowMs : Math.max(this.#rows.dueMs(row), search.nowMs + 1);
  }

  #join(list: { first: number; last: number }, row: number): void {
    if (list.last === NO_ROW) list.first = row;
    else this.#rows.setNext(list.last, row);
    list.last = row;
  }

  /** Takes the first row out of a bucket. */
  #shift(number: number): number {
    const last = this.#buckets.get(number);
    if (last === undefined) return NO_ROW;
    const row = this.#rows.next(last);
    if (row === last) this.#buckets.delete(number);
    else this.#rows.setNext(last, this.#rows.next(row));
    return row;
  }

  /** Puts a row first into a bucket. */
  #put(number: number, row: number): void {
    const last = this.#buckets.get(number);
    if (last === undefined) return this.#append(number, row, row);
    this.#rows.setNext(row, this.#rows.next(last));
    this.#rows.setNext(last, row);
  }

  /** Puts rows into a bucket behind those that are in it. */
  #append(number: number, first: number, last: number): void {
    const before = this.#buckets.get(number);
    this.#rows.setNext(last, before === undefined ? first : this.#rows.next(before));
    if (before !== undefined) this.#rows.setNext(before, first);
    this.#buckets.set(number, last);
    if (number < this.#oldest) this.#oldest = number;
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

  #turn(): void {
    const current = Math.floor(readMilliseconds(this.#clock) / BUCKET_MS);
    let left = SLICE;
    for (const [number, last] of this.#buckets) {
      if (number > current) continue;
      this.#buckets.delete(number);
      left = this.#lookAt(number, last, left);
      if (left === 0) return this.#arm(-Infinity);
    }
    this.#armFirst();
  }

  /** Looks at the rows of a bucket; what is too much goes back into it. Returns how many more may be looked at. */
  #lookAt(number: number, last: number, left: number): number {
    let row = this.#rows.next(last);
    try {
      while (row !== NO_ROW && left > 0 && !this.#isStopped) {
        const looked = row;
        const next = row === last ? NO_ROW : this.#rows.next(row);
        const dueMs = this.#rows.look(row);
        row = next;
        left--;
        if (!Number.isNaN(dueMs)) this.add(looked, dueMs);
      }
    } finally {
      // Also where a look has failed: no other list has them. A clock that steps back may have brought others meanwhile.
      if (row !== NO_ROW && !this.#isStopped) this.#append(number, row, last);
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
    const before = this.#timerBucket;
    // Noted before: the clock may run code of others that comes back here.
    this.#timerBucket = number;
    try {
      this.#timer.set(this.#clock, this.#onTimer, delayMs, { background: true });
    } catch (error) {
      // The timer before, if any, stays: nobody else may come by to set it again.
      if (this.#timerBucket === number) this.#timerBucket = before;
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
