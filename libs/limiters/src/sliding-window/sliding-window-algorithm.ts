import type { Cells, PermitAlgorithm, WaitingPermits } from '../engine/algorithm.js';
import { divideFloor, multiplyDivideCeil, multiplyDivideFloor } from '../engine/exact.js';
import { toNanoseconds } from '../engine/time-unit.js';
import { SegmentForecast } from './segment-forecast.js';

/** Boundary k lies at `anchor + k * window / segments`; the anchor moves by whole windows only. */
const ANCHOR = 0;
/** The current segment; while everything is back, the boundary since which it is. */
const CURRENT = 1;
const USED = 2;
/** Manual mode only: the last `tryReplenish` call at which something was spent; with all back, the one that brought it. */
const FULL_SINCE = 3;
/** From here on the permits granted in each segment, a ring by segment number. */
const SEGMENTS = 4;

/**
 * A window that moves segment by segment: what a segment grants comes back when the window has left it, S
 * boundaries later. The oldest segment counts in full, so the window errs on the strict side.
 *
 * Guarantee: grants in any span of (S - 1) / S windows <= limit, and in a span of one window that begins at a
 * boundary <= limit. State: four numbers and one a segment.
 */
export class SlidingWindowAlgorithm implements PermitAlgorithm {
  readonly limit: number;
  readonly windowMs: number;
  readonly periodMs: number;
  readonly isReplenishing = true;
  readonly isManual: boolean;
  readonly cellCount: number;
  readonly #window: number;
  readonly #segments: number;

  constructor(limit: number, windowMs: number, segments: number, isManual: boolean) {
    this.limit = limit;
    this.windowMs = windowMs;
    this.periodMs = windowMs / segments;
    this.isManual = isManual;
    this.cellCount = SEGMENTS + segments;
    this.#window = toNanoseconds(windowMs);
    this.#segments = segments;
  }

  initialize(cells: Cells, at: number, now: number): void {
    for (let cell = 0; cell < this.cellCount; cell++) cells[at + cell] = 0;
    cells[at + ANCHOR] = now;
    cells[at + FULL_SINCE] = now;
  }

  advance(cells: Cells, at: number, now: number): boolean {
    if (this.isManual || cells[at + USED] === 0) return false;
    const segment = this.#segmentAt(cells, at, now);
    if (segment <= cells[at + CURRENT]!) return false;
    return this.#move(cells, at, segment);
  }

  replenish(cells: Cells, at: number, now: number): boolean {
    const segment = this.#segmentAt(cells, at, now);
    if (!this.isManual || segment <= cells[at + CURRENT]!) return false;
    const wasUsed = cells[at + USED] !== 0;
    this.#move(cells, at, segment);
    if (wasUsed) cells[at + FULL_SINCE] = now;
    // Moving stops at the moment of fullness, but all that is due counts as applied.
    this.#enter(cells, at, this.#segmentAt(cells, at, now));
    return true;
  }

  available(cells: Cells, at: number): number {
    return this.limit - cells[at + USED]!;
  }

  tryTake(cells: Cells, at: number, permits: number, now: number): number {
    this.advance(cells, at, now);
    const left = this.available(cells, at) - permits;
    if (left < 0 || (permits === 0 && left === 0)) return -1;
    if (permits > 0) this.take(cells, at, permits, now);
    return left;
  }

  take(cells: Cells, at: number, permits: number, now: number): void {
    if (cells[at + USED] === 0 && !this.isManual) {
      this.#enter(cells, at, Math.max(cells[at + CURRENT]!, this.#segmentAt(cells, at, now)));
    }
    const current = cells[at + CURRENT]!;
    cells[this.#ring(at, current)]! += permits;
    cells[at + USED]! += permits;
  }

  release(): void {
    // What a segment has granted comes back when the window leaves it.
  }

  markFull(): void {
    // The moment of fullness follows from the state.
  }

  fullSince(cells: Cells, at: number): number {
    if (cells[at + USED] !== 0) return NaN;
    return this.isManual ? cells[at + FULL_SINCE]! : this.#boundary(cells, at, cells[at + CURRENT]!);
  }

  idleSince(cells: Cells, at: number, now: number): number {
    this.advance(cells, at, now);
    return this.fullSince(cells, at);
  }

  untilFull(cells: Cells, at: number, now: number): number {
    if (cells[at + USED] === 0) return 0;
    let segment = cells[at + CURRENT]!;
    for (let ring = this.#ring(at, segment); cells[ring] === 0; segment--) ring = this.#before(at, ring);
    return Math.max(0, this.#boundary(cells, at, segment + this.#segments) - now);
  }

  dueAt(cells: Cells, at: number, permits: number): number {
    const forecast = this.#forecast(cells, at);
    forecast.serve(permits);
    return this.#dueAt(cells, at, forecast.boundary);
  }

  dueBehind(cells: Cells, at: number, waiting: WaitingPermits, permits: number): number {
    const forecast = this.#forecast(cells, at);
    waiting.forEachInTurn((asked) => forecast.serve(asked));
    forecast.serve(permits);
    return this.#dueAt(cells, at, forecast.boundary);
  }

  adopt(previous: PermitAlgorithm, cells: Cells, now: number): Cells {
    const before = previous as SlidingWindowAlgorithm;
    if (before.#window === this.#window && before.#segments === this.#segments) return cells;
    const adopted: Cells = [];
    this.initialize(adopted, 0, cells[ANCHOR]!);
    // Replenished by hand, it is still in the segment applied last, however much time has passed.
    const end = before.#boundary(cells, 0, cells[CURRENT]! + 1) - 1;
    const present = this.isManual ? Math.min(now, end) : now;
    this.#enter(adopted, 0, Math.max(0, this.#segmentAt(adopted, 0, present)));
    adopted[FULL_SINCE] = cells[FULL_SINCE]!;
    const current = adopted[CURRENT]!;
    for (let back = before.#segments - 1; back >= 0; back--) {
      const segment = cells[CURRENT]! - back;
      const spent = cells[before.#ring(0, segment)]!;
      if (spent === 0) continue;
      // By the end of its old segment, so that nothing comes back before the new window has passed over it.
      const end = before.#boundary(cells, 0, segment + 1) - 1;
      const home = Math.min(current, this.#segmentAt(adopted, 0, end));
      if (home <= current - this.#segments) continue;
      adopted[this.#ring(0, home)]! += spent;
      adopted[USED]! += spent;
    }
    return adopted;
  }

  #ring(at: number, segment: number): number {
    return at + SEGMENTS + (((segment % this.#segments) + this.#segments) % this.#segments);
  }

  /** The place of the next segment: without a division, because there may be many to go through. */
  #after(at: number, ring: number): number {
    return ring + 1 < at + this.cellCount ? ring + 1 : at + SEGMENTS;
  }

  #before(at: number, ring: number): number {
    return ring > at + SEGMENTS ? ring - 1 : at + this.cellCount - 1;
  }

  #segmentAt(cells: Cells, at: number, now: number): number {
    const elapsed = now - cells[at + ANCHOR]!;
    if (elapsed >= 0) return multiplyDivideFloor(elapsed, this.#segments, this.#window);
    return -multiplyDivideCeil(-elapsed, this.#segments, this.#window);
  }

  /** The first whole nanosecond at or behind a boundary. */
  #boundary(cells: Cells, at: number, segment: number): number {
    if (segment >= 0) return cells[at + ANCHOR]! + multiplyDivideCeil(segment, this.#window, this.#segments);
    return cells[at + ANCHOR]! - multiplyDivideFloor(-segment, this.#window, this.#segments);
  }

  /** Moves the window on to a segment, at most to the boundary that brings the last permit back. */
  #move(cells: Cells, at: number, segment: number): boolean {
    let moved = cells[at + CURRENT]!;
    let ring = this.#ring(at, moved);
    let used = cells[at + USED]!;
    const usedBefore = used;
    while (moved < segment && used !== 0) {
      moved++;
      ring = this.#after(at, ring);
      used -= cells[ring]!;
      cells[ring] = 0;
    }
    cells[at + USED] = used;
    this.#enter(cells, at, moved);
    return used < usedBefore;
  }

  /** Makes a segment the current one and keeps its number small: whole windows go into the anchor. */
  #enter(cells: Cells, at: number, segment: number): void {
    const windows = divideFloor(segment, this.#segments);
    cells[at + ANCHOR]! += windows * this.#window;
    cells[at + CURRENT] = segment - windows * this.#segments;
  }

  #forecast(cells: Cells, at: number): SegmentForecast {
    const forecast = new SegmentForecast(this.available(cells, at), this.#segments, cells[at + CURRENT]!);
    const current = cells[at + CURRENT]!;
    let ring = this.#ring(at, current);
    for (let boundary = current + 1; boundary <= current + this.#segments; boundary++) {
      ring = this.#after(at, ring);
      if (cells[ring] !== 0) forecast.expect(boundary, cells[ring]!);
    }
    return forecast;
  }

  #dueAt(cells: Cells, at: number, boundary: number): number {
    return boundary === cells[at + CURRENT] ? -Infinity : this.#boundary(cells, at, boundary);
  }
}
