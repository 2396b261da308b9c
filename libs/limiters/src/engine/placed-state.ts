import type { Instant } from '../chained/instant.js';
import type { Clock } from '../clock.js';
import type { RateLimitQuota } from '../rate-limit-lease.js';
import type { Cells, PermitAlgorithm, WaitingPermits } from './algorithm.js';
import * as state from './decision.js';
import { quotaEntry } from './granted-lease.js';
import type { LimiterPlan } from './limiter-plan.js';
import { sinceOrigin, toMilliseconds } from './time-unit.js';

/** Where the state of a limiter is kept. */
export interface StatePlace {
  readonly cells: Cells;
  /** The origin of the state's times, in clock milliseconds. */
  readonly originMs: number;
}

/** What is seldom other than at first: limiters share it until then. */
export interface LimiterCondition {
  readonly isDisposed: boolean;
  /** Counts resets. */
  readonly epoch: number;
  /** How many waiting chains involve the limiter. */
  readonly holds: number;
  /** Permits set aside for requests that still wait for other limiters. */
  readonly reserved: number;
}

const AT_FIRST: LimiterCondition = { isDisposed: false, epoch: 0, holds: 0, reserved: 0 };

/**
 * A limiter's plan and state, and the moment at which it is looked at; no waiters. There may be a million of them, so
 * methods are `private` rather than `#methods` here and in the core: V8 gives an object that has some a field for that.
 */
export abstract class PlacedState {
  protected plan: LimiterPlan;
  protected cells: Cells;
  readonly #originMs: number;
  protected condition = AT_FIRST;

  constructor(plan: LimiterPlan, place: StatePlace) {
    this.plan = plan;
    this.cells = place.cells;
    this.#originMs = place.originMs;
  }

  /** Where the state begins in its cells. */
  protected abstract get at(): number;

  /** The clock as read when this turn began: every step of a decision goes by the same moment. */
  protected abstract get reading(): number;
  protected abstract set reading(now: number);

  protected get reserved(): number {
    return this.condition.reserved;
  }

  protected become(change: Partial<LimiterCondition>): void {
    this.condition = { ...this.condition, ...change };
  }

  get epoch(): number {
    return this.condition.epoch;
  }

  get isDisposed(): boolean {
    return this.condition.isDisposed;
  }

  get isHeld(): boolean {
    return this.condition.holds > 0;
  }

  get name(): string {
    return this.plan.name;
  }

  /** The options that its numbers come from. */
  get options(): object {
    return this.plan.options;
  }

  get algorithm(): PermitAlgorithm {
    return this.plan.algorithm;
  }

  get permitLimit(): number {
    return this.plan.limit;
  }

  get clock(): Clock {
    return this.plan.clock;
  }

  get isNewestFirst(): boolean {
    return this.plan.isNewestFirst;
  }

  /** Whether two are views of one and the same state. */
  isSame(other: object): boolean {
    return (
      other === this || (other instanceof PlacedState && other.cells === this.cells && other.at === this.at)
    );
  }

  /** Whether the state is still in the place it began in. */
  isAt(cells: Cells): boolean {
    return this.cells === cells;
  }

  hasEnough(permits: number): boolean {
    return this.free >= (permits === 0 ? 1 : permits);
  }

  quota(): RateLimitQuota {
    const remaining = this.algorithm.available(this.cells, this.own);
    return quotaEntry(
      this.algorithm,
      remaining,
      this.algorithm.untilFull(this.cells, this.own, this.reading),
    );
  }

  /** In how many milliseconds the waiter in turn can go; `NaN` where no timer would tell. */
  delayUntilMs(permits: number): number {
    if (this.algorithm.isManual || !this.plan.isReplenishing) return NaN;
    const needed = (permits || 1) + this.reserved;
    // Only the end of a reservation helps then, and nobody knows when that is.
    if (needed > this.permitLimit) return NaN;
    const dueAt = this.algorithm.dueAt(this.cells, this.own, needed);
    const now = this.read();
    // Months from the origin, nanoseconds are told apart no longer: what is not there yet may seem due.
    const leastDelay = dueAt === -Infinity ? 0 : Math.abs(now) * Number.EPSILON;
    return toMilliseconds(Math.max(dueAt - now, leastDelay));
  }

  /**
   * When a request can be granted behind those of a queue, if who has set permits aside took them at once; `NaN` where
   * unknown. They come later, or never: it may have to be told again.
   */
  protected dueAt(permits: number, queue: WaitingPermits | null): number {
    const needed = permits || 1;
    const { algorithm, reserved } = this;
    let { cells, own } = this;
    if (reserved > 0) {
      cells = Array.from(cells.slice(own, own + algorithm.cellCount));
      own = 0;
      algorithm.take(cells, own, reserved, this.reading);
    }
    return queue === null
      ? algorithm.dueAt(cells, own, needed)
      : algorithm.dueBehind(cells, own, queue, needed);
  }

  countRefusal(): void {
    state.countRefusal(this.cells, this.at);
  }

  /** Where the algorithm's own cells begin. */
  protected get own(): number {
    return state.ownCells(this.at);
  }

  protected read(): number {
    return (this.reading = sinceOrigin(this.plan.clock.now(), this.#originMs));
  }

  /** The same within a decision on several limiters. */
  protected readIn(instant: Instant): number {
    return (this.reading = sinceOrigin(instant.nowMs(this.plan.clock), this.#originMs));
  }

  /** Permits that are available and not set aside. */
  protected get free(): number {
    return this.algorithm.available(this.cells, this.own) - this.reserved;
  }

  protected takePermits(permits: number): void {
    if (permits > 0) this.algorithm.take(this.cells, this.own, permits, this.reading);
  }
}
