import type { Clock, ClockTimer } from '../../clock.js';
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

/**
 * Rows to be looked at when they are due, in buckets of {@link BUCKET_MS}: linked lists through a column of the
 * rows. There is one background timer, set for the first bucket while there is one.
 */
export class ExpiryWheel {
  readonly #clock: Clock;
  readonly #rows: ExpiringRows;
  /** The first row of each bucket, by the bucket's number. */
  readonly #buckets = new Map<number, number>();
  #timer: ClockTimer | null = null;
  #timerBucket = Infinity;
  /** Before that no search finds anything: the last one has looked at everything. */
  #nothingBeforeMs = -Infinity;
  readonly #onTimer = (): void => {
    this.#timer = null;
    this.#timerBucket = Infinity;
    this.#turn();
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
    if (number < this.#timerBucket) this.#arm(number);
  }

  /** Takes the first due row out that is wanted. A search in vain isn't repeated before something more is due. */
  takeDue(isWanted: (row: number) => boolean): number {
    const nowMs = this.#clock.now();
    if (nowMs < this.#nothingBeforeMs) return NO_ROW;
    let nextMs = Infinity;
    for (const [number, first] of this.#buckets) {
      if (number > bucketOf(nowMs)) {
        nextMs = Math.min(nextMs, (number - 1) * BUCKET_MS);
        continue;
      }
      for (let row = first, before = NO_ROW; row !== NO_ROW; before = row, row = this.#rows.next(row)) {
        if (isWanted(row)) {
          this.#unlink(number, row, before);
          return row;
        }
        // What is due but can't go yet may be able to a moment later.
        nextMs = Math.min(nextMs, Math.max(this.#rows.dueMs(row), nowMs + 1));
      }
    }
    this.#nothingBeforeMs = nextMs;
    return NO_ROW;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerBucket = Infinity;
    this.#buckets.clear();
  }

  #unlink(number: number, row: number, before: number): void {
    const next = this.#rows.next(row);
    if (before !== NO_ROW) this.#rows.setNext(before, next);
    else if (next !== NO_ROW) this.#buckets.set(number, next);
    else this.#buckets.delete(number);
  }

  #turn(): void {
    const current = Math.floor(this.#clock.now() / BUCKET_MS);
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
    while (row !== NO_ROW && left > 0) {
      const next = this.#rows.next(row);
      const dueMs = this.#rows.look(row);
      if (!Number.isNaN(dueMs)) this.add(row, dueMs);
      row = next;
      left--;
    }
    if (row !== NO_ROW) this.#buckets.set(number, row);
    return left;
  }

  #armFirst(): void {
    let first = Infinity;
    for (const number of this.#buckets.keys()) first = Math.min(first, number);
    if (first !== Infinity) this.#arm(first);
  }

  /** Sets the timer for a bucket; for what is left of a turn, as soon as others have had the event loop. */
  #arm(number: number): void {
    this.#timer?.cancel();
    this.#timerBucket = number;
    const delayMs = Math.max(0, number * BUCKET_MS - this.#clock.now());
    this.#timer = this.#clock.setTimer(this.#onTimer, delayMs, { background: true });
  }
}

/** The bucket whose turn comes strictly after the due time, at most {@link BUCKET_MS} later. */
function bucketOf(dueMs: number): number {
  return Math.floor(dueMs / BUCKET_MS) + 1;
}
