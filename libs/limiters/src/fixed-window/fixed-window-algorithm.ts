import type { Cells, PermitAlgorithm, WaitingPermits } from '../engine/algorithm.js';
import { divideFloor } from '../engine/exact.js';
import { toNanoseconds } from '../engine/time-unit.js';

/** With permits out: the start of their window. With all back: the boundary since which they are. */
const START = 0;
const USED = 1;
/** Manual mode only: the `tryReplenish` call that brought everything back. */
const FULL_SINCE = 2;

/**
 * At each boundary `anchor + k * window` all permits are back; the anchor is the construction, and no call
 * moves a boundary.
 *
 * Guarantee: grants in any span of one window <= 2 * limit (limit before a boundary, limit after it), and in
 * the span between two boundaries <= limit. State: two numbers (three in manual mode).
 */
export class FixedWindowAlgorithm implements PermitAlgorithm {
  readonly limit: number;
  readonly windowMs: number;
  readonly isReplenishing = true;
  readonly isManual: boolean;
  readonly cellCount: number;
  readonly #window: number;
  /** After how long a window ends by itself. */
  readonly #dueAfter: number;

  constructor(limit: number, windowMs: number, isManual: boolean) {
    this.limit = limit;
    this.windowMs = windowMs;
    this.isManual = isManual;
    this.cellCount = isManual ? 3 : 2;
    this.#window = toNanoseconds(windowMs);
    this.#dueAfter = isManual ? Infinity : this.#window;
  }

  get periodMs(): number {
    return this.windowMs;
  }

  initialize(cells: Cells, at: number, now: number): void {
    cells[at + START] = now;
    cells[at + USED] = 0;
    if (this.isManual) cells[at + FULL_SINCE] = now;
  }

  advance(cells: Cells, at: number, now: number): boolean {
    if (cells[at + USED] === 0 || now - cells[at + START]! < this.#dueAfter) return false;
    cells[at + USED] = 0;
    // The first boundary is the moment of fullness, however many passed; `take` catches up with the others.
    cells[at + START]! += this.#window;
    return true;
  }

  replenish(cells: Cells, at: number, now: number): boolean {
    if (!this.isManual || now - cells[at + START]! < this.#window) return false;
    cells[at + START]! += divideFloor(now - cells[at + START]!, this.#window) * this.#window;
    if (cells[at + USED] !== 0) cells[at + FULL_SINCE] = now;
    cells[at + USED] = 0;
    return true;
  }

  available(cells: Cells, at: number): number {
    return this.limit - cells[at + USED]!;
  }

  tryTake(cells: Cells, at: number, permits: number, now: number): number {
    if (now - cells[at + START]! >= this.#dueAfter) return this.#tryTakeOfAll(cells, at, permits, now);
    const used = cells[at + USED]!;
    const left = this.limit - used - permits;
    if (left < 0 || (permits === 0 && left === 0)) return -1;
    cells[at + USED] = used + permits;
    return left;
  }

  take(cells: Cells, at: number, permits: number, now: number): void {
    if (permits > 0 && cells[at + USED] === 0 && !this.isManual && now - cells[at + START]! >= this.#window) {
      cells[at + START]! += divideFloor(now - cells[at + START]!, this.#window) * this.#window;
    }
    cells[at + USED]! += permits;
  }

  release(): void {
    // What a window has granted comes back with the next one.
  }

  markFull(): void {
    // The moment of fullness follows from the state.
  }

  fullSince(cells: Cells, at: number): number {
    if (cells[at + USED] !== 0) return NaN;
    return cells[at + (this.isManual ? FULL_SINCE : START)]!;
  }

  idleSince(cells: Cells, at: number, now: number): number {
    this.advance(cells, at, now);
    return this.fullSince(cells, at);
  }

  untilFull(cells: Cells, at: number, now: number): number {
    const left = cells[at + START]! + this.#window - now;
    return left < 0 || cells[at + USED] === 0 ? 0 : left;
  }

  dueAt(cells: Cells, at: number, permits: number): number {
    return permits <= this.available(cells, at) ? -Infinity : cells[at + START]! + this.#window;
  }

  dueBehind(cells: Cells, at: number, waiting: WaitingPermits, permits: number): number {
    let left = this.available(cells, at);
    let windows = 0;
    const serve = (asked: number): void => {
      if (left < asked) {
        windows++;
        left = this.limit;
      }
      left -= asked;
    };
    waiting.forEachInTurn(serve);
    serve(permits);
    return windows === 0 ? -Infinity : cells[at + START]! + windows * this.#window;
  }

  adopt(_previous: PermitAlgorithm, cells: Cells, now: number): Cells {
    this.advance(cells, 0, now);
    return cells;
  }

  /** {@link FixedWindowAlgorithm.tryTake} where a window or more has passed. */
  #tryTakeOfAll(cells: Cells, at: number, permits: number, now: number): number {
    this.advance(cells, at, now);
    const left = this.limit - permits;
    if (left < 0) return -1;
    this.take(cells, at, permits, now);
    return left;
  }
}
