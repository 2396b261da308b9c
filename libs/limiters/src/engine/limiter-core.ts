import type { Cells } from './algorithm.js';
import type { ChainParticipant, Reservation } from '../chained/chain-participant.js';
import type { Instant } from '../chained/instant.js';
import { ObjectDisposedError } from '../errors.js';
import { QueuedRequest } from '../queue/queued-request.js';
import type { Waiter } from '../queue/waiter.js';
import { WaitingRoom } from '../queue/waiting-room.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import { CoreReservation } from './core-reservation.js';
import { nextCreationOrder } from './creation-order.js';
import * as state from './decision.js';
import { GrantedLease, HeldLease } from './granted-lease.js';
import type { LimiterPlan } from './limiter-plan.js';
import { misuseOf } from './limiter-plan.js';
import { PlacedState } from './placed-state.js';
import { REASON, RefusedLease } from './refused-lease.js';
import { deadlineAfter, toMilliseconds, toRetryAfterMs } from './time-unit.js';

/**
 * The working part of a limiter: a state, the clock that moves it and, once somebody waits, a room for the
 * waiters. The public limiter classes are its faces, chains speak to it directly.
 */
export abstract class LimiterCore extends PlacedState implements ChainParticipant {
  creationOrder = nextCreationOrder();
  #room: WaitingRoom | null = null;

  get hasWaiters(): boolean {
    return this.#room !== null && this.#room.queue.count > 0;
  }

  /** Milliseconds since everything was available and nobody waited. */
  get idleDurationMs(): number | null {
    this.bringUpToDate();
    if (this.hasWaiters || this.reserved > 0) return null;
    const since = this.algorithm.fullSince(this.cells, this.own);
    return Number.isNaN(since) ? null : Math.max(0, toMilliseconds(this.read() - since));
  }

  assertAcquirable(permits: number): void {
    if (permits > this.plan.limit || this.condition.isDisposed) throw misuseOf(this.plan, permits);
  }

  attempt(permits: number): RateLimitLease {
    const { plan } = this;
    if (this.#room !== null || this.condition.reserved > 0 || !plan.isReplenishing)
      return this.tryGrant(permits) ?? this.refuse(permits);
    return state.decideRate(plan.algorithm, this.cells, this.at, permits, this.read());
  }

  acquire(permits: number, signal: AbortSignal | undefined, maxWaitMs: number): Promise<RateLimitLease> {
    const lease = this.tryGrant(permits);
    if (lease !== null) return Promise.resolve(lease);
    const refusal = this.refusalToWait(permits, maxWaitMs, false);
    if (refusal !== null) return Promise.resolve(refusal);
    return new QueuedRequest(this, permits, signal, deadlineAfter(this.clock, maxWaitMs)).begin();
  }

  bringUpToDate(instant?: Instant): void {
    if (!this.plan.isReplenishing || this.isDisposed) return;
    const now = instant === undefined ? this.read() : this.readIn(instant);
    if (this.algorithm.advance(this.cells, this.own, now)) this.#room?.serve();
  }

  tryReplenish(): boolean {
    if (this.isDisposed || !this.algorithm.replenish(this.cells, this.own, this.read())) return false;
    this.#room?.serve();
    return true;
  }

  canGrant(permits: number): boolean {
    return this.hasEnough(permits) && (this.#room === null || this.#room.lets(permits));
  }

  take(permits: number): RateLimitLease {
    this.takePermits(permits);
    return this.grant(permits);
  }

  /** The lease for permits that are taken. */
  grant(permits: number): RateLimitLease {
    const { cells, algorithm } = this;
    state.countGrant(cells, this.at);
    if (!this.plan.isReplenishing) return new HeldLease(this, permits, this.free);
    return new GrantedLease(algorithm, this.free, algorithm.untilFull(cells, this.own, this.reading));
  }

  refuse(permits: number): RateLimitLease {
    return this.refusal(this.plan.isReplenishing ? undefined : REASON.permitLimitReached, permits);
  }

  refusalToWait(permits: number, maxWaitMs: number, isReserving: boolean): RateLimitLease | null {
    const limit = this.plan.queueLimit;
    const permitsLeft = limit - permits;
    if (limit === 0 || (!isReserving && !this.hasRoom(permits, permitsLeft))) {
      if (limit === 0 || this.plan.isReplenishing) return this.refuse(permits);
      return this.refusal(REASON.queueLimitReached, permits);
    }
    if (maxWaitMs !== Infinity && this.isTooLong(permits, maxWaitMs, isReserving)) {
      return this.refusal(REASON.waitLimitReached, permits);
    }
    if (!isReserving && permits > 0)
      this.#room?.evict(permitsLeft, (evicted) => this.refusal(REASON.evicted, evicted));
    return null;
  }

  enter(waiter: Waiter): void {
    const { resident } = this;
    // What ran for it on its way in, such as a clock, may have ended the limiter: nobody would come by any more.
    if (resident.isDisposed) return waiter.refuse(new RefusedLease(REASON.limiterDisposed));
    resident.settle();
    resident.#room ??= new WaitingRoom(resident);
    resident.#room.enter(waiter);
  }

  reserve(permits: number): Reservation | null {
    this.bringUpToDate();
    if (!this.hasEnough(permits) || (this.#room?.queue.hasReserving ?? false)) return null;
    return this.reserveInTurn(permits);
  }

  reserveInTurn(permits: number): Reservation {
    this.become({ reserved: this.reserved + permits });
    return new CoreReservation(this, permits);
  }

  /** The lease for permits that were set aside. */
  grantReserved(permits: number): RateLimitLease {
    this.endReservation(permits);
    const lease = this.take(permits);
    this.#room?.arm();
    return lease;
  }

  /** They are everybody's again. */
  undoReserved(permits: number): void {
    try {
      this.endReservation(permits);
    } finally {
      this.#room?.serve();
    }
  }

  release(permits: number, epoch: number, instant?: Instant): void {
    if (permits === 0) return;
    const { resident } = this;
    if (resident.isDisposed || epoch !== resident.epoch) return;
    if (resident.free === 0 && resident.#room !== null && resident.#room.passOn(permits)) return;
    resident.algorithm.release(resident.cells, resident.own, permits);
    resident.afterReturn(instant);
  }

  hold(): void {
    const { resident } = this;
    if (!resident.isHeld) resident.settle();
    resident.become({ holds: resident.condition.holds + 1 });
  }

  unhold(): void {
    const { resident } = this;
    resident.become({ holds: resident.condition.holds - 1 });
  }

  retryAfterMs(permits: number): number | undefined {
    const dueAt = this.dueInTurn(permits);
    return Number.isNaN(dueAt) ? undefined : toRetryAfterMs(dueAt - this.reading);
  }

  getStatistics(): RateLimiterStatistics {
    this.bringUpToDate();
    const queued = this.#room?.queue.permits ?? 0;
    return state.statisticsOf(this.cells, this.at, { available: this.free, queued });
  }

  /** Goes on with other numbers: what is spent stays spent, what is held stays held. */
  change(plan: LimiterPlan): void {
    if (this.isDisposed) throw new ObjectDisposedError(this.name);
    this.bringUpToDate();
    const { cells, at } = this;
    this.moveTo(state.adoptState(this.algorithm, plan.algorithm, { cells, at }, this.read()));
    this.plan = plan;
    this.#room?.reorder(this.isNewestFirst);
    this.#room?.refuseAbove(plan.algorithm.limit);
    this.#room?.serve();
  }

  /** As new: leases handed out before give nothing back afterwards. */
  reset(): void {
    if (this.isDisposed) throw new ObjectDisposedError(this.name);
    this.become({ epoch: this.epoch + 1 });
    state.initializeState(this.algorithm, this.cells, this.at, this.read());
    this.#room?.serve();
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.bringUpToDate();
    this.become({ isDisposed: true });
    this.#room?.close();
  }

  /** The core that speaks for this state: several may stand for one of a table. */
  protected abstract get resident(): LimiterCore;

  /** From now on it speaks for its state: somebody waits in it. */
  protected abstract settle(): void;

  /** Goes on with another state, in cells of its own. */
  protected abstract moveTo(state: Cells): void;

  /** Time has gone on: what is due comes first, and goes to those who wait for it. */
  private endReservation(permits: number): void {
    try {
      this.bringUpToDate();
    } finally {
      // Also where the clock fails: nobody else would.
      this.become({ reserved: this.reserved - permits });
    }
  }

  private dueInTurn(permits: number): number {
    const room = this.#room;
    return this.dueAt(permits, room === null || this.isNewestFirst ? null : room.queue);
  }

  /**
   * The lease, brought up to date first, or `null` where a newcomer isn't granted. What every decision goes through is
   * short here and in the algorithms, and what few of them need stands apart: V8 makes one piece of code of a call and
   * all within it, as long as they are not more than some 900 bytes of its own language.
   */
  private tryGrant(permits: number): RateLimitLease | null {
    const { plan, cells, at } = this;
    if (this.#room !== null || this.condition.reserved > 0) return this.tryGrantInTurn(permits);
    if (!plan.isReplenishing) return this.tryHold(permits);
    const now = this.read();
    const own = state.ownCells(at);
    const remaining = plan.algorithm.tryTake(cells, own, permits, now);
    if (remaining < 0) return null;
    state.countGrant(cells, at);
    return new GrantedLease(plan.algorithm, remaining, plan.algorithm.untilFull(cells, own, now));
  }

  private tryHold(permits: number): RateLimitLease | null {
    const { plan, cells, at } = this;
    const remaining = plan.algorithm.tryTake(cells, state.ownCells(at), permits, 0);
    if (remaining < 0) return null;
    state.countGrant(cells, at);
    return new HeldLease(this, permits, remaining);
  }

  private tryGrantInTurn(permits: number): RateLimitLease | null {
    this.bringUpToDate();
    return this.canGrant(permits) ? this.take(permits) : null;
  }

  private refusal(reason: string | undefined, permits: number): RateLimitLease {
    const facts = { reason, dueAt: this.dueInTurn(permits), now: this.reading };
    return state.refuse(this.plan.algorithm, this.cells, this.at, facts);
  }

  /** Whether a request has room in the queue, or gets it by eviction. */
  private hasRoom(permits: number, permitsLeft: number): boolean {
    if (permitsLeft < 0) return false;
    const room = this.#room;
    if (room === null || permits === 0 || room.queue.permits <= permitsLeft) return true;
    return this.isNewestFirst && room.canEvict(permitsLeft);
  }

  private isTooLong(permits: number, maxWaitMs: number, isReserving: boolean): boolean {
    if (maxWaitMs <= 0) return true;
    // A request that reserves stands before all others.
    const dueAt = isReserving ? this.dueAt(permits, null) : this.dueInTurn(permits);
    return toMilliseconds(dueAt - this.reading) > maxWaitMs;
  }

  private afterReturn(instant: Instant | undefined): void {
    this.#room?.serve();
    const { cells, own, algorithm } = this;
    if (Number.isNaN(algorithm.fullSince(cells, own))) return;
    algorithm.markFull(cells, own, instant === undefined ? this.read() : this.readIn(instant));
  }
}
