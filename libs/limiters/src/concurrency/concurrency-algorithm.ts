import type { Cells, PermitAlgorithm } from '../engine/algorithm.js';

const USED = 0;
const IDLE_SINCE = 1;

/**
 * Permits that are held while work runs and come back when it ends.
 *
 * Guarantee: at any instant, permits held <= limit. State: two numbers.
 */
export class ConcurrencyAlgorithm implements PermitAlgorithm {
  readonly limit: number;
  readonly windowMs = undefined;
  readonly periodMs = Infinity;
  readonly isReplenishing = false;
  readonly isManual = false;
  readonly cellCount = 2;

  constructor(limit: number) {
    this.limit = limit;
  }

  initialize(cells: Cells, at: number, now: number): void {
    cells[at + USED] = 0;
    cells[at + IDLE_SINCE] = now;
  }

  advance(): boolean {
    return false;
  }

  replenish(): boolean {
    return false;
  }

  available(cells: Cells, at: number): number {
    return this.limit - cells[at + USED]!;
  }

  tryTake(cells: Cells, at: number, permits: number): number {
    const left = this.available(cells, at) - permits;
    if (left < 0 || (permits === 0 && left === 0)) return -1;
    cells[at + USED]! += permits;
    return left;
  }

  take(cells: Cells, at: number, permits: number): void {
    cells[at + USED]! += permits;
  }

  release(cells: Cells, at: number, permits: number): void {
    cells[at + USED]! -= permits;
  }

  markFull(cells: Cells, at: number, now: number): void {
    cells[at + IDLE_SINCE] = now;
  }

  fullSince(cells: Cells, at: number): number {
    return cells[at + USED] === 0 ? cells[at + IDLE_SINCE]! : NaN;
  }

  idleSince(cells: Cells, at: number): number {
    return this.fullSince(cells, at);
  }

  untilFull(): number {
    return NaN;
  }

  dueAt(): number {
    return NaN;
  }

  dueBehind(): number {
    return NaN;
  }

  adopt(_previous: PermitAlgorithm, cells: Cells): Cells {
    return cells;
  }
}
