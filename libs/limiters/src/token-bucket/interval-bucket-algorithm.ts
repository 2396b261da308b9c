import type { Cells, PermitAlgorithm, WaitingPermits } from '../engine/algorithm.js';
import { divideFloor } from '../engine/exact.js';
import { toMilliseconds, toNanoseconds } from '../engine/time-unit.js';
import type { BucketNumbers } from './bucket-numbers.js';

/** The last boundary applied; while the bucket is full, the one that filled it. */
const REFERENCE = 0;
const TOKENS = 1;
/** Manual mode only: the last `tryReplenish` call that brought anything; of a full bucket, the one that filled it. */
const FULL_SINCE = 2;

/**
 * A bucket that gets `tokensPerPeriod` tokens at once at each boundary `anchor + k * period`, as .NET's does.
 *
 * Guarantee: grants in any span of length t <= tokenLimit + tokensPerPeriod * (floor(t / period) + 1). State:
 * two numbers (three in manual mode).
 */
export class IntervalBucketAlgorithm implements PermitAlgorithm {
  readonly limit: number;
  readonly windowMs: number;
  readonly periodMs: number;
  readonly isReplenishing = true;
  readonly isManual: boolean;
  readonly cellCount: number;
  readonly #perPeriod: number;
  readonly #period: number;

  constructor(numbers: BucketNumbers, isManual: boolean) {
    this.limit = numbers.tokenLimit;
    this.periodMs = numbers.replenishmentPeriodMs;
    this.isManual = isManual;
    this.cellCount = isManual ? 3 : 2;
    this.#perPeriod = numbers.tokensPerPeriod;
    this.#period = toNanoseconds(numbers.replenishmentPeriodMs);
    this.windowMs = toMilliseconds(this.#boundariesFor(this.limit) * this.#period);
  }

  initialize(cells: Cells, at: number, now: number): void {
    cells[at + REFERENCE] = now;
    cells[at + TOKENS] = this.limit;
    if (this.isManual) cells[at + FULL_SINCE] = now;
  }

  advance(cells: Cells, at: number, now: number): boolean {
    if (this.isManual || now - cells[at + REFERENCE]! < this.#period) return false;
    const missing = this.limit - cells[at + TOKENS]!;
    if (missing <= 0) return false;
    const enough = this.#boundariesFor(missing);
    const passed = this.#boundariesSince(cells[at + REFERENCE]!, now);
    // Stopping at the boundary that fills the bucket keeps the exact moment of fullness.
    const applied = Math.min(passed, enough);
    this.#add(cells, at, applied);
    cells[at + REFERENCE]! += applied * this.#period;
    return true;
  }

  replenish(cells: Cells, at: number, now: number): boolean {
    const passed = this.#boundariesSince(cells[at + REFERENCE]!, now);
    if (!this.isManual || passed < 1 || cells[at + TOKENS]! >= this.limit) return false;
    this.#add(cells, at, passed);
    cells[at + REFERENCE]! += passed * this.#period;
    cells[at + FULL_SINCE] = now;
    return true;
  }

  available(cells: Cells, at: number): number {
    return cells[at + TOKENS]!;
  }

  tryTake(cells: Cells, at: number, permits: number, now: number): number {
    this.advance(cells, at, now);
    const left = this.available(cells, at) - permits;
    if (left < 0 || (permits === 0 && left === 0)) return -1;
    if (permits > 0) this.take(cells, at, permits, now);
    return left;
  }

  take(cells: Cells, at: number, permits: number, now: number): void {
    if (cells[at + TOKENS]! >= this.limit) {
      cells[at + REFERENCE]! += this.#boundariesSince(cells[at + REFERENCE]!, now) * this.#period;
    }
    cells[at + TOKENS]! -= permits;
  }

  release(): void {
    // Spent tokens come back with time.
  }

  markFull(): void {
    // The moment of fullness follows from the state.
  }

  fullSince(cells: Cells, at: number): number {
    if (cells[at + TOKENS]! < this.limit) return NaN;
    return cells[at + (this.isManual ? FULL_SINCE : REFERENCE)]!;
  }

  idleSince(cells: Cells, at: number, now: number): number {
    this.advance(cells, at, now);
    return this.fullSince(cells, at);
  }

  untilFull(cells: Cells, at: number, now: number): number {
    const missing = this.limit - cells[at + TOKENS]!;
    if (missing <= 0) return 0;
    return Math.max(0, cells[at + REFERENCE]! + this.#boundariesFor(missing) * this.#period - now);
  }

  dueAt(cells: Cells, at: number, permits: number): number {
    const missing = permits - cells[at + TOKENS]!;
    return missing <= 0 ? -Infinity : cells[at + REFERENCE]! + this.#boundariesFor(missing) * this.#period;
  }

  dueBehind(cells: Cells, at: number, waiting: WaitingPermits, permits: number): number {
    let tokens = cells[at + TOKENS]!;
    let boundaries = 0;
    const serve = (asked: number): void => {
      if (tokens < asked) {
        const needed = this.#boundariesFor(asked - tokens);
        boundaries += needed;
        tokens = this.#filled(tokens, needed);
      }
      tokens -= asked;
    };
    waiting.forEachInTurn(serve);
    serve(permits);
    return boundaries === 0 ? -Infinity : cells[at + REFERENCE]! + boundaries * this.#period;
  }

  adopt(previous: PermitAlgorithm, cells: Cells, now: number): Cells {
    cells[TOKENS]! += this.limit - previous.limit;
    this.advance(cells, 0, now);
    return cells;
  }

  #boundariesFor(tokens: number): number {
    const whole = divideFloor(tokens, this.#perPeriod);
    return whole * this.#perPeriod < tokens ? whole + 1 : whole;
  }

  #boundariesSince(reference: number, now: number): number {
    return now < reference ? 0 : divideFloor(now - reference, this.#period);
  }

  /** The tokens after so many boundaries. The comparison comes first: the product may pass 2^53. */
  #filled(tokens: number, boundaries: number): number {
    return boundaries >= this.#boundariesFor(this.limit - tokens)
      ? this.limit
      : tokens + boundaries * this.#perPeriod;
  }

  #add(cells: Cells, at: number, boundaries: number): void {
    cells[at + TOKENS] = this.#filled(cells[at + TOKENS]!, boundaries);
  }
}
