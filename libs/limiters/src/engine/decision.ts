import type { RateLimitLease } from '../rate-limit-lease.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import type { Cells, PermitAlgorithm } from './algorithm.js';
import { GrantedLease } from './granted-lease.js';
import { DecidedRefusal } from './refused-lease.js';

/**
 * A limiter's state is two counters, then the cells of its algorithm. What is decided on it here is the same for
 * a limiter that stands alone and for one of a million rows of a table.
 */
const GRANTED = 0;
const REFUSED = 1;
const OWN = 2;

/** How many cells the state of a limiter takes. */
export function stateSize(algorithm: PermitAlgorithm): number {
  return OWN + algorithm.cellCount;
}

/** Where the algorithm's own cells begin. */
export function ownCells(at: number): number {
  return at + OWN;
}

/** Writes the state of a new limiter. */
export function initializeState(algorithm: PermitAlgorithm, cells: Cells, at: number, now: number): void {
  cells[at + GRANTED] = 0;
  cells[at + REFUSED] = 0;
  algorithm.initialize(cells, at + OWN, now);
}

/** Counts a success. */
export function countGrant(cells: Cells, at: number): void {
  cells[at + GRANTED]! += 1;
}

/** Why, and at which moment a refusal is worth another try. */
export interface RefusalFacts {
  readonly reason: string | undefined;
  /** `NaN` where unknown. */
  readonly dueAt: number;
  readonly now: number;
}

/** A refusal; counts it. */
export function refuse(
  algorithm: PermitAlgorithm,
  cells: Cells,
  at: number,
  facts: RefusalFacts,
): RateLimitLease {
  cells[at + REFUSED]! += 1;
  const { now } = facts;
  const own = at + OWN;
  const untilFull = algorithm.untilFull(cells, own, now);
  return new DecidedRefusal(
    facts.reason,
    algorithm,
    algorithm.available(cells, own),
    untilFull,
    facts.dueAt - now,
  );
}

/**
 * A whole decision on a rate that nobody waits for. Most decisions are this and nothing else, so it is short: V8 makes one
 * piece of code of a call and all within it, as long as they are not more than some 900 bytes of its own language. What
 * is left out then hands numbers over as objects.
 */
// oxlint-disable-next-line max-params -- once per decision: they aren't worth an object
export function decideRate(
  algorithm: PermitAlgorithm,
  cells: Cells,
  at: number,
  permits: number,
  now: number,
): RateLimitLease {
  const own = at + OWN;
  const remaining = algorithm.tryTake(cells, own, permits, now);
  if (remaining >= 0) {
    cells[at + GRANTED]! += 1;
    return new GrantedLease(algorithm, remaining, algorithm.untilFull(cells, own, now));
  }
  cells[at + REFUSED]! += 1;
  return new DecidedRefusal(
    undefined,
    algorithm,
    algorithm.available(cells, own),
    algorithm.untilFull(cells, own, now),
    algorithm.dueAt(cells, own, permits || 1) - now,
  );
}

/** Counts a refusal that has another lease. */
export function countRefusal(cells: Cells, at: number): void {
  cells[at + REFUSED]! += 1;
}

/** A snapshot of the counters of a state that is up to date. */
export function statisticsOf(
  cells: Cells,
  at: number,
  { available, queued }: { available: number; queued: number },
): RateLimiterStatistics {
  return {
    currentAvailablePermits: Math.max(0, available),
    currentQueuedCount: queued,
    totalFailedLeases: cells[at + REFUSED]!,
    totalSuccessfulLeases: cells[at + GRANTED]!,
  };
}

/** The state under other numbers: what is spent stays spent, the counters go on. */
export function adoptState(
  previous: PermitAlgorithm,
  next: PermitAlgorithm,
  state: { cells: Cells; at: number },
  now: number,
): Cells {
  const { cells, at } = state;
  const own = Array.from(cells.slice(at + OWN, at + OWN + previous.cellCount));
  return [cells[at + GRANTED]!, cells[at + REFUSED]!, ...next.adopt(previous, own, now)];
}
