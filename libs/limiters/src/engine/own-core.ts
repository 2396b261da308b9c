import type { Cells } from './algorithm.js';
import { initializeState, stateSize } from './decision.js';
import { LimiterCore } from './limiter-core.js';
import type { LimiterPlan } from './limiter-plan.js';
import { originOf } from './time-unit.js';

/**
 * In front of the state stands the moment at which it was looked at last. As a field of the core it would be an object
 * of its own, with 24 bytes for the 8 of a number.
 */
const READING = 0;
const STATE = 1;

/**
 * Not whole numbers, so that V8 keeps what is copied from it as doubles from the start: cells that began as small
 * integers are copied once a time no longer is one, and code that has met both kinds is slower.
 */
const BLANK = Array.from({ length: 64 }, () => NaN);

/** The core of a limiter that stands alone, with cells of its own. */
export class OwnCore extends LimiterCore {
  static create(plan: LimiterPlan): OwnCore {
    const cells = blankCells(STATE + stateSize(plan.algorithm));
    const core = new OwnCore(plan, { cells, originMs: originOf(plan.clock) });
    initializeState(plan.algorithm, cells, STATE, core.read());
    return core;
  }

  protected override get at(): number {
    return STATE;
  }

  protected override get reading(): number {
    return this.cells[READING]!;
  }

  protected override set reading(now: number) {
    this.cells[READING] = now;
  }

  protected override get resident(): OwnCore {
    return this;
  }

  protected override settle(): void {
    // Its state has no other core.
  }

  protected override moveTo(state: Cells): void {
    const cells = blankCells(STATE + state.length);
    cells[READING] = this.reading;
    for (let cell = 0; cell < state.length; cell++) cells[STATE + cell] = state[cell]!;
    this.cells = cells;
  }
}

function blankCells(length: number): Cells {
  return length <= BLANK.length ? BLANK.slice(0, length) : Array.from({ length }, () => NaN);
}
