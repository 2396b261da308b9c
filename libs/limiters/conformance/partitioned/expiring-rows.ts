import type { TimerOptions } from '../../src/index.js';
import type { ExpiringRows } from '../../src/partitioned/table/expiry-wheel.js';
import { ExpiryWheel } from '../../src/partitioned/table/expiry-wheel.js';
import { FailingClock } from '../faults/failing-clock.js';

/** Rows that note when they are looked at. */
export class Rows implements ExpiringRows {
  readonly clock = new FailingClock(50_000);
  readonly wheel = new ExpiryWheel(this.clock, this);
  /** When to look at a row again, if at all. */
  readonly again = new Map<number, number>();
  readonly due = new Map<number, number>();
  looks: { row: number; atMs: number }[] = [];
  /** Delays of the timers that were set. */
  delays: number[] = [];
  areInBackground = true;
  readonly #next = new Map<number, number>();

  constructor() {
    const setTimer = this.clock.setTimer.bind(this.clock);
    this.clock.setTimer = (callback: () => void, delayMs: number, options?: TimerOptions) => {
      this.delays.push(delayMs);
      this.areInBackground &&= options?.background === true;
      return setTimer(callback, delayMs);
    };
  }

  next(row: number): number {
    return this.#next.get(row)!;
  }

  setNext(row: number, next: number): void {
    this.#next.set(row, next);
  }

  look(row: number): number {
    this.looks.push({ row, atMs: this.clock.now() - 50_000 });
    const againMs = this.again.get(row);
    this.again.delete(row);
    return againMs === undefined ? NaN : 50_000 + againMs;
  }

  dueMs(row: number): number {
    return 50_000 + this.due.get(row)!;
  }

  add(row: number, dueMs: number): void {
    this.due.set(row, dueMs);
    this.wheel.add(row, 50_000 + dueMs);
  }

  /** Takes a row out that is due, and says which ones were asked about. */
  take(wanted: readonly number[]): { row: number; asked: number[] } {
    const asked: number[] = [];
    const row = this.wheel.takeDue((candidate) => {
      asked.push(candidate);
      return wanted.includes(candidate);
    });
    return { row, asked };
  }
}
