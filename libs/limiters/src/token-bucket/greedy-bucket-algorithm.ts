import type { Cells, PermitAlgorithm, WaitingPermits } from '../engine/algorithm.js';
import {
  divideFloor,
  greatestCommonDivisor,
  multiplyDivideCeil,
  multiplyDivideFloor,
} from '../engine/exact.js';
import { toMilliseconds, toNanoseconds } from '../engine/time-unit.js';
import type { BucketNumbers } from './bucket-numbers.js';

/** The moment up to which the tokens are counted; while the bucket is full, the moment that filled it. */
const REFERENCE = 0;
/** Whole tokens. */
const TOKENS = 1;
/** The part of the next token that is there already, in units of 1 / `#unitsPerToken` of a token. */
const FRACTION = 2;
/** Manual mode only: the last `tryReplenish` call that brought anything; of a full bucket, the one that filled it. */
const FULL_SINCE = 3;

const { MAX_SAFE_INTEGER } = Number;

/**
 * A bucket that fills continuously: tokens = min(limit, tokens + elapsed * tokensPerPeriod / period), computed
 * as a rational so that ten tenths are one. A full bucket gathers nothing.
 *
 * Guarantee: grants in any span of length t <= tokenLimit + tokensPerPeriod * t / period. State: three numbers
 * (four in manual mode). Model: the token bucket of RFC 2697 with one rate; refilled on reading, as Go's
 * `x/time/rate` does, but without its floating point.
 */
export class GreedyBucketAlgorithm implements PermitAlgorithm {
  readonly limit: number;
  readonly windowMs: number;
  readonly periodMs: number;
  readonly isReplenishing = true;
  readonly isManual: boolean;
  readonly cellCount: number;
  /** Each nanosecond brings `#unitsPerNanosecond` units of which `#unitsPerToken` are a token. */
  readonly #unitsPerNanosecond: number;
  readonly #unitsPerToken: number;
  /** So many units, all of them exact, are less than a token. */
  readonly #partsBelow: number;

  constructor(numbers: BucketNumbers, isManual: boolean) {
    this.limit = numbers.tokenLimit;
    this.periodMs = numbers.replenishmentPeriodMs;
    this.isManual = isManual;
    this.cellCount = isManual ? 4 : 3;
    const period = toNanoseconds(numbers.replenishmentPeriodMs);
    const divisor = greatestCommonDivisor(numbers.tokensPerPeriod, period);
    this.#unitsPerNanosecond = numbers.tokensPerPeriod / divisor;
    this.#unitsPerToken = period / divisor;
    this.#partsBelow = Math.min(this.#unitsPerToken, MAX_SAFE_INTEGER);
    this.windowMs = toMilliseconds(this.#nanosecondsFor(this.limit, 0));
  }

  initialize(cells: Cells, at: number, now: number): void {
    cells[at + REFERENCE] = now;
    cells[at + TOKENS] = this.limit;
    cells[at + FRACTION] = 0;
    if (this.isManual) cells[at + FULL_SINCE] = now;
  }

  advance(cells: Cells, at: number, now: number): boolean {
    return !this.isManual && this.#fill(cells, at, now);
  }

  replenish(cells: Cells, at: number, now: number): boolean {
    if (!this.isManual || cells[at + TOKENS]! >= this.limit || now <= cells[at + REFERENCE]!) return false;
    this.#fill(cells, at, now);
    cells[at + FULL_SINCE] = now;
    return true;
  }

  available(cells: Cells, at: number): number {
    return cells[at + TOKENS]!;
  }

  tryTake(cells: Cells, at: number, permits: number, now: number): number {
    if (!this.isManual) this.#fill(cells, at, now);
    const tokens = cells[at + TOKENS]!;
    const left = tokens - permits;
    if (left < 0 || (permits === 0 && left === 0)) return -1;
    if (tokens >= this.limit) this.take(cells, at, permits, now);
    else cells[at + TOKENS] = left;
    return left;
  }

  take(cells: Cells, at: number, permits: number, now: number): void {
    // What a full bucket did not gather must not be credited afterwards.
    if (permits > 0 && cells[at + TOKENS]! >= this.limit && now > cells[at + REFERENCE]!)
      cells[at + REFERENCE] = now;
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
    if (cells[at + TOKENS]! >= this.limit) return 0;
    const missing = this.#nanosecondsFor(this.limit - cells[at + TOKENS]!, cells[at + FRACTION]!);
    const left = cells[at + REFERENCE]! + missing - now;
    return left < 0 ? 0 : left;
  }

  dueAt(cells: Cells, at: number, permits: number): number {
    const missing = permits - cells[at + TOKENS]!;
    if (missing <= 0) return -Infinity;
    return cells[at + REFERENCE]! + this.#nanosecondsFor(missing, cells[at + FRACTION]!);
  }

  dueBehind(cells: Cells, at: number, waiting: WaitingPermits, permits: number): number {
    const sum = waiting.permits + permits;
    if (sum <= MAX_SAFE_INTEGER) return this.dueAt(cells, at, sum);
    let exactSum = BigInt(permits);
    waiting.forEachInTurn((asked) => (exactSum += BigInt(asked)));
    const units =
      (exactSum - BigInt(cells[at + TOKENS]!)) * BigInt(this.#unitsPerToken) - BigInt(cells[at + FRACTION]!);
    const rate = BigInt(this.#unitsPerNanosecond);
    return cells[at + REFERENCE]! + Number((units + rate - 1n) / rate);
  }

  adopt(previous: PermitAlgorithm, cells: Cells, now: number): Cells {
    cells[TOKENS]! += this.limit - previous.limit;
    // Only a full bucket comes to the new limit by that, and it has no fraction.
    // A fraction of a token under the old numbers is the same fraction of one under the new.
    const unitsBefore = previous instanceof GreedyBucketAlgorithm ? previous.#unitsPerToken : 1;
    cells[FRACTION] = multiplyDivideFloor(cells[FRACTION] ?? 0, this.#unitsPerToken, unitsBefore);
    this.advance(cells, 0, now);
    return cells;
  }

  /** Counts the tokens up to now. Returns whether a whole one came. */
  #fill(cells: Cells, at: number, now: number): boolean {
    const elapsed = now - cells[at + REFERENCE]!;
    if (elapsed <= 0 || cells[at + TOKENS]! >= this.limit) return false;
    const gained = elapsed * this.#unitsPerNanosecond + cells[at + FRACTION]!;
    // Asked often, a bucket gains parts of a token at a time: they need no division.
    if (gained >= this.#partsBelow) return this.#fillWith(cells, at, now, gained);
    cells[at + REFERENCE] = now;
    cells[at + FRACTION] = gained;
    return false;
  }

  // oxlint-disable-next-line max-params -- what the caller has computed, and shouldn't have to put into an object
  #fillWith(cells: Cells, at: number, now: number, gained: number): boolean {
    if (gained > MAX_SAFE_INTEGER) return this.#fillExactly(cells, at, now);
    const whole = divideFloor(gained, this.#unitsPerToken);
    if (whole >= this.limit - cells[at + TOKENS]!) return this.#fillUp(cells, at);
    cells[at + REFERENCE] = now;
    cells[at + TOKENS]! += whole;
    cells[at + FRACTION] = gained - whole * this.#unitsPerToken;
    return whole > 0;
  }

  #fillExactly(cells: Cells, at: number, now: number): boolean {
    const elapsed = BigInt(now - cells[at + REFERENCE]!);
    const gained = elapsed * BigInt(this.#unitsPerNanosecond) + BigInt(cells[at + FRACTION]!);
    const perToken = BigInt(this.#unitsPerToken);
    const whole = Number(gained / perToken);
    if (whole >= this.limit - cells[at + TOKENS]!) return this.#fillUp(cells, at);
    cells[at + REFERENCE] = now;
    cells[at + TOKENS]! += whole;
    cells[at + FRACTION] = Number(gained % perToken);
    return whole > 0;
  }

  #fillUp(cells: Cells, at: number): boolean {
    cells[at + REFERENCE]! += this.#nanosecondsFor(this.limit - cells[at + TOKENS]!, cells[at + FRACTION]!);
    cells[at + TOKENS] = this.limit;
    cells[at + FRACTION] = 0;
    return true;
  }

  /** The nanoseconds that bring so many tokens when a fraction of the next is there, rounded up. */
  #nanosecondsFor(tokens: number, fraction: number): number {
    const units = tokens * this.#unitsPerToken;
    // Nearly always: a period is a whole number of nanoseconds per token.
    if (this.#unitsPerNanosecond === 1 && units <= MAX_SAFE_INTEGER) return units - fraction;
    return this.#exactNanosecondsFor(tokens, fraction);
  }

  #exactNanosecondsFor(tokens: number, fraction: number): number {
    const units = tokens * this.#unitsPerToken;
    if (units <= MAX_SAFE_INTEGER) return multiplyDivideCeil(units - fraction, 1, this.#unitsPerNanosecond);
    const rate = BigInt(this.#unitsPerNanosecond);
    return Number((BigInt(tokens) * BigInt(this.#unitsPerToken) - BigInt(fraction) + rate - 1n) / rate);
  }
}
