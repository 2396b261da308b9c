import type { Clock } from '../clock.js';
import { assertTimerIsSet } from '../engine/clock-timer.js';
import { OnlyTimer } from '../engine/only-timer.js';
import { REASON, RefusedLease } from '../engine/refused-lease.js';
import { delayReaching, readMilliseconds } from '../engine/time-unit.js';
import type { RateLimitLease, RateLimitQuota } from '../rate-limit-lease.js';
import { QueuedRequest } from './queued-request.js';
import type { Waiter, WaitingPlace } from './waiter.js';
import { WaitQueue } from './wait-queue.js';

/** Waiters served by one timer callback; the rest follow as soon as others have had the event loop. */
const BATCH = 1000;
/** How soon those who wait are looked at again where the clock has failed. */
const RETRY_MS = 100;

/** Whose requests wait in a room. */
export interface RoomKeeper {
  readonly clock: Clock;
  readonly isNewestFirst: boolean;
  readonly isDisposed: boolean;
  /** Applies what is due. */
  bringUpToDate(): void;
  /** Whether the one in turn can go. */
  hasEnough(permits: number): boolean;
  /** In how many milliseconds the one in turn can go; `NaN` where no timer would tell. */
  delayUntilMs(permits: number): number;
  retryAfterMs(permits: number): number | undefined;
  countRefusal(): void;
  /** How it stands. */
  quota(): RateLimitQuota;
}

/**
 * Where the requests of a limiter wait: their queue, the service, and the one timer, which exists only while
 * somebody waits and is set for the exact moment at which the first of them can go or has to.
 */
export class WaitingRoom implements WaitingPlace {
  queue: WaitQueue;
  readonly #keeper: RoomKeeper;
  #isServing = false;
  readonly #timer = new OnlyTimer();
  /** `NaN`: it isn't set. */
  #timerAtMs = NaN;
  #isArming = false;
  /** Whether who is in turn has to be looked at again once the timer is set. */
  #hasChanged = false;
  /** How many more may be served in one go. */
  #left = Infinity;
  readonly #onTimer = (): void => {
    assertTimerIsSet(this.#onTimer);
    this.#disarm();
    try {
      // Whoever is served in the next batch is not too late.
      if (this.#serveBatch()) this.#expire();
      this.arm();
    } catch (error) {
      this.#lookAgainSoon();
      throw error;
    }
  };

  constructor(keeper: RoomKeeper) {
    this.#keeper = keeper;
    this.queue = new WaitQueue(keeper.isNewestFirst);
  }

  /** Whether a newcomer that asks for permits may take them although others wait. */
  lets(permits: number): boolean {
    if (permits === 0) return true;
    if (this.queue.hasReserving) return false;
    return this.queue.withPermits === 0 || this.#keeper.isNewestFirst;
  }

  enter(waiter: Waiter): void {
    this.queue.add(waiter, this);
    const isInTurn = this.queue.inTurn === waiter;
    // There was not enough when it was asked; what ran for it on its way in, such as a clock, may have freed some.
    if (isInTurn && this.#keeper.hasEnough(waiter.permits)) this.serve();
    else if (isInTurn || waiter.deadlineMs !== Infinity) this.arm();
  }

  /** Serves those in turn while there is enough for them. */
  serve(): void {
    // A turn may touch other limiters whose waiters come back here: the loop below looks again anyway.
    if (this.#isServing) return;
    this.#isServing = true;
    try {
      let next = this.queue.inTurn;
      while (
        next !== null &&
        this.#left > 0 &&
        !this.#keeper.isDisposed &&
        this.#keeper.hasEnough(next.permits)
      ) {
        this.#left--;
        next.takeTurn();
        next = this.queue.inTurn;
      }
    } finally {
      this.#isServing = false;
    }
    try {
      this.arm();
    } catch (error) {
      this.#lookAgainSoon();
      throw error;
    }
  }

  /**
   * Gives permits that come back, while no others are free, to the one in turn if it asks for as many. That is nearly
   * always so; then nothing else changes, and neither those behind it nor the timer have to be looked at.
   *
   * @returns `false` where it did nothing: they have to be given back, and those in turn to be served.
   */
  passOn(permits: number): boolean {
    const next = this.queue.inTurn;
    if (this.#isServing || !(next instanceof QueuedRequest)) return false;
    // With a deadline gone, the timer may have to be set anew.
    if (next.permits !== permits || next.bounds !== null) return false;
    next.takeReturned();
    return true;
  }

  resume(): void {
    try {
      this.#keeper.bringUpToDate();
      this.serve();
    } catch (error) {
      this.#lookAgainSoon();
      throw error;
    }
  }

  retryAfterMs(permits: number): number | undefined {
    return this.#keeper.retryAfterMs(permits);
  }

  countRefusal(): void {
    this.#keeper.countRefusal();
  }

  quota(): RateLimitQuota {
    return this.#keeper.quota();
  }

  /** Whether evicting from the oldest end can leave at most so many permits waiting. */
  canEvict(permitsLeft: number): boolean {
    return this.queue.reservingPermits <= permitsLeft;
  }

  /** Evicts from the oldest end until at most so many permits wait. */
  evict(permitsLeft: number, refusal: (permits: number) => RateLimitLease): void {
    while (this.queue.permits > permitsLeft) {
      const oldest = this.queue.oldest!;
      this.queue.delete(oldest);
      oldest.refuse(refusal(oldest.permits));
    }
  }

  /** Refuses those that ask for more than the limit now is. */
  refuseAbove(limit: number): void {
    for (const waiter of this.queue.inOrder()) {
      if (waiter.permits <= limit) continue;
      this.queue.delete(waiter);
      this.#keeper.countRefusal();
      waiter.refuse(new RefusedLease(REASON.limitLowered, undefined, this.quota()));
    }
  }

  /** Goes on in the other order. */
  reorder(isNewestFirst: boolean): void {
    this.queue.isNewestFirst = isNewestFirst;
  }

  /** The limiter has ended: everybody leaves, in the order of service. */
  close(): void {
    this.arm();
    for (const waiter of this.queue.inOrder()) {
      this.queue.delete(waiter);
      waiter.refuse(new RefusedLease(REASON.limiterDisposed));
    }
  }

  /** Serves some of those in turn. Returns whether there are no more. */
  #serveBatch(): boolean {
    this.#left = BATCH;
    try {
      this.#keeper.bringUpToDate();
      this.serve();
      return this.#left > 0;
    } finally {
      this.#left = Infinity;
    }
  }

  #expire(): void {
    const nowMs = readMilliseconds(this.#keeper.clock);
    for (let waiter = this.queue.overdue(nowMs); waiter !== undefined; waiter = this.queue.overdue(nowMs)) {
      waiter.onDeadline();
    }
  }

  /** Sets the timer for the first who can go or has to, or takes it back. */
  arm(): void {
    // The clock runs code of others, and that changes who waits: what has been found out may not be so any more.
    this.#hasChanged = true;
    if (this.#isArming) return;
    this.#isArming = true;
    try {
      while (this.#hasChanged) {
        this.#hasChanged = false;
        this.#armForFirst();
      }
    } finally {
      this.#isArming = false;
    }
  }

  #armForFirst(): void {
    const next = this.queue.inTurn;
    if (next === null || this.#keeper.isDisposed) return this.#disarm();
    const turnInMs = this.#keeper.delayUntilMs(next.permits);
    const deadlineMs = this.queue.firstDeadlineMs;
    if (Number.isNaN(turnInMs) && deadlineMs === Infinity) return this.#disarm();
    const nowMs = readMilliseconds(this.#keeper.clock);
    const deadlineInMs = deadlineMs - nowMs;
    const wantedMs = Math.max(0, turnInMs <= deadlineInMs ? turnInMs : deadlineInMs);
    const delayMs = delayReaching(nowMs, wantedMs);
    if (this.#timerAtMs === nowMs + delayMs) return;
    this.#setTimer(delayMs, nowMs + delayMs);
  }

  /** The clock fails. Those who wait can't know when it is well again, and nobody else may come by. */
  #lookAgainSoon(): void {
    if (this.queue.count === 0 || this.#keeper.isDisposed) return;
    this.#setTimer(RETRY_MS, Infinity);
  }

  #setTimer(delayMs: number, atMs: number): void {
    this.#timerAtMs = NaN;
    if (this.#timer.set(this.#keeper.clock, this.#onTimer, delayMs)) this.#timerAtMs = atMs;
  }

  #disarm(): void {
    this.#timerAtMs = NaN;
    this.#timer.cancel();
  }
}
