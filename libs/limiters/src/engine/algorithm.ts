/**
 * Where the state of a limiter lives: a few numbers from an offset on. What each of them means is the
 * algorithm's own affair. One limiter has an array to itself; the partitions of a partitioned limiter can share
 * long ones.
 */
export type Cells = number[] | Float64Array;

/** The requests that wait, in the order in which they will be served. */
export interface WaitingPermits {
  /** The sum of what they ask for; exact only up to 2^53 - 1. */
  readonly permits: number;
  /** Calls `visit` with the permits of each. */
  forEachInTurn(visit: (permits: number) => void): void;
}

/**
 * The arithmetic of a limiter, for one set of numbers: `(state, now, permits)` to a new state or an answer. It
 * knows no clock, no queue and no promise, and keeps nothing but its configuration; the state is in the
 * {@link Cells}. All times are nanoseconds since the limiter's origin, all results exact.
 *
 * Callers keep the order: {@link PermitAlgorithm.advance} to the present, then ask, then take.
 */
export interface PermitAlgorithm {
  /** The limit in permits. */
  readonly limit: number;
  /** The window of a quota, in milliseconds; `undefined` where time brings nothing back. */
  readonly windowMs: number | undefined;
  /** Milliseconds between two replenishments; `Infinity` where there are none. */
  readonly periodMs: number;
  /** Whether time brings permits back at all. */
  readonly isReplenishing: boolean;
  /** `true`: only {@link PermitAlgorithm.replenish} applies what is due. */
  readonly isManual: boolean;
  /** How many cells a limiter's state takes. */
  readonly cellCount: number;

  /** Writes the state of a new limiter. */
  initialize(cells: Cells, at: number, now: number): void;

  /** Applies everything due by itself up to now. Returns whether permits came back. */
  advance(cells: Cells, at: number, now: number): boolean;

  /** Manual mode: applies what is due since the last time. Returns whether anything was applied. */
  replenish(cells: Cells, at: number, now: number): boolean;

  /** Permits free; below 0 after the limit was lowered under what is spent. */
  available(cells: Cells, at: number): number;

  /**
   * A whole decision for a limiter in which nobody waits, as one call: advances, and takes if there is enough (a
   * request for none needs one to be free). Returns what is left, or -1 where nothing was taken.
   */
  tryTake(cells: Cells, at: number, permits: number, now: number): number;

  /** Takes permits that are available. */
  take(cells: Cells, at: number, permits: number, now: number): void;

  /** Gives permits back because their work has ended; for a rate there is no such thing. */
  release(cells: Cells, at: number, permits: number): void;

  /** Notes the moment at which a release made everything available. */
  markFull(cells: Cells, at: number, now: number): void;

  /** When everything became available, or `NaN` while something is not. */
  fullSince(cells: Cells, at: number): number;

  /** The same after advancing. */
  idleSince(cells: Cells, at: number, now: number): number;

  /** Nanoseconds until everything is back if nobody asks; `NaN` where only disposal brings it back. */
  untilFull(cells: Cells, at: number, now: number): number;

  /** The moment at which so many permits are available if nobody else asks; `NaN` where none is foreseeable. */
  dueAt(cells: Cells, at: number, permits: number): number;

  /** The same for a request behind others, found by playing their queue forward. */
  dueBehind(cells: Cells, at: number, waiting: WaitingPermits, permits: number): number;

  /**
   * Carries the state of a limiter over from other numbers: what is spent stays spent.
   * @returns the new cells, advanced to now.
   */
  adopt(previous: PermitAlgorithm, cells: Cells, now: number): Cells;
}
