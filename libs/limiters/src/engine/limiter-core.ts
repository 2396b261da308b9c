import type { ChainParticipant, Reservation } from '../chained/chain-participant.js';
import { aboveLimit } from '../checks.js';
import type { Clock } from '../clock.js';
import { ObjectDisposedError } from '../errors.js';
import type { Waiter } from '../queue/waiter.js';
import type { QueueProcessingOrder } from '../queue/wait-queue.js';
import { QueuedRequest } from '../queue/queued-request.js';
import { WaitingRoom } from '../queue/waiting-room.js';
import type { RateLimitLease, RateLimitQuota } from '../rate-limit-lease.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import type { Cells, PermitAlgorithm } from './algorithm.js';
import { nextCreationOrder } from './creation-order.js';
import { GrantedLease, HeldLease, quotaEntry } from './granted-lease.js';
import { CoreReservation } from './core-reservation.js';
import { REASON, RefusedLease } from './refused-lease.js';
import { originOf, readNanoseconds, toMilliseconds, toRetryAfterMs } from './time-unit.js';

/** What all limiters of this process have in common, besides their numbers. */
export interface CoreOptions {
  readonly queueLimit: number;
  readonly queueProcessingOrder: QueueProcessingOrder;
  readonly clock: Clock;
}

/**
 * The working part of a limiter: a state, the clock that moves it, counters and, once somebody waits, a room
 * for the waiters. The public limiter classes are its faces, chains speak to it directly.
 */
export class LimiterCore implements ChainParticipant {
  readonly creationOrder = nextCreationOrder();
  readonly name: string;
  #algorithm: PermitAlgorithm;
  #options: CoreOptions;
  readonly #originMs: number;
  #cells: Cells;
  #granted = 0;
  #refused = 0;
  #epoch = 0;
  #holds = 0;
  #isDisposed = false;
  #room: WaitingRoom | null = null;
  /** The clock as read when this turn began: every step of a decision goes by the same moment. */
  #reading = 0;

  constructor(name: string, algorithm: PermitAlgorithm, options: CoreOptions) {
    this.name = name;
    this.#algorithm = algorithm;
    this.#options = options;
    this.#originMs = originOf(options.clock);
    this.#cells = Array.from({ length: algorithm.cellCount }, () => 0);
    algorithm.initialize(this.#cells, 0, this.#read());
  }

  get algorithm(): PermitAlgorithm {
    return this.#algorithm;
  }

  get permitLimit(): number {
    return this.#algorithm.limit;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get queueProcessingOrder(): QueueProcessingOrder {
    return this.#options.queueProcessingOrder;
  }

  get epoch(): number {
    return this.#epoch;
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** Milliseconds since everything was available and nobody waited. */
  get idleDurationMs(): number | null {
    this.bringUpToDate();
    if (this.#room !== null && this.#room.queue.count > 0) return null;
    const since = this.#algorithm.fullSince(this.#cells, 0);
    return Number.isNaN(since) ? null : Math.max(0, toMilliseconds(this.#read() - since));
  }

  assertAcquirable(permits: number): void {
    if (permits > this.#algorithm.limit) throw aboveLimit(permits, this.#algorithm.limit);
    if (this.#isDisposed) throw new ObjectDisposedError(this.name);
  }

  attempt(permits: number): RateLimitLease {
    this.bringUpToDate();
    return this.canGrant(permits) ? this.take(permits) : this.refuse(permits);
  }

  acquire(permits: number, signal: AbortSignal | undefined, maxWaitMs: number): Promise<RateLimitLease> {
    this.bringUpToDate();
    if (this.canGrant(permits)) return Promise.resolve(this.take(permits));
    const refusal = this.refusalToWait(permits, maxWaitMs, false);
    if (refusal !== null) return Promise.resolve(refusal);
    const request = new QueuedRequest(this, permits, signal);
    if (maxWaitMs !== Infinity) request.deadlineMs = this.clock.now() + maxWaitMs;
    this.enter(request);
    return request.promise;
  }

  bringUpToDate(): void {
    if (!this.#algorithm.isReplenishing || this.#isDisposed) return;
    if (this.#algorithm.advance(this.#cells, 0, this.#read())) this.#room?.serve();
  }

  tryReplenish(): boolean {
    if (this.#isDisposed || !this.#algorithm.replenish(this.#cells, 0, this.#read())) return false;
    this.#room?.serve();
    return true;
  }

  canGrant(permits: number): boolean {
    if (!this.hasEnough(permits)) return false;
    if (permits === 0 || this.#room === null) return true;
    return this.#room.lets(permits);
  }

  /** Whether the permits are there, whoever waits for them. A request for none needs one to be free. */
  hasEnough(permits: number): boolean {
    return this.#algorithm.available(this.#cells, 0) >= (permits === 0 ? 1 : permits);
  }

  take(permits: number): RateLimitLease {
    this.#take(permits);
    return this.grant(permits);
  }

  /** The lease for permits that are taken. */
  grant(permits: number): RateLimitLease {
    this.#granted++;
    const remaining = this.#algorithm.available(this.#cells, 0);
    if (!this.#algorithm.isReplenishing) return new HeldLease(this, permits, remaining);
    return new GrantedLease(
      this.#algorithm,
      remaining,
      this.#algorithm.untilFull(this.#cells, 0, this.#reading),
    );
  }

  refuse(permits: number): RateLimitLease {
    return this.#refusal(this.#algorithm.isReplenishing ? undefined : REASON.permitLimitReached, permits);
  }

  countRefusal(): void {
    this.#refused++;
  }

  /** The refusal for a request that can't wait by the rules of the queue; makes room where that is the rule. */
  refusalToWait(permits: number, maxWaitMs: number, isReserving: boolean): RateLimitLease | null {
    const limit = this.#options.queueLimit;
    if (limit === 0 || (!isReserving && (permits > limit || !this.#makeRoom(permits)))) {
      if (this.#algorithm.isReplenishing) return this.#refusal(undefined, permits);
      return this.#refusal(limit === 0 ? REASON.permitLimitReached : REASON.queueLimitReached, permits);
    }
    const isTooLong = maxWaitMs <= 0 || toMilliseconds(this.#dueAt(permits) - this.#reading) > maxWaitMs;
    return isTooLong ? this.#refusal(REASON.waitLimitReached, permits) : null;
  }

  enter(waiter: Waiter): void {
    this.#room ??= new WaitingRoom(this);
    this.#room.enter(waiter);
  }

  reserve(permits: number): Reservation | null {
    this.bringUpToDate();
    if (!this.hasEnough(permits) || (this.#room?.queue.hasReserving ?? false)) return null;
    return this.reserveInTurn(permits);
  }

  /** Takes for the request whose turn it is. */
  reserveInTurn(permits: number): Reservation {
    return new CoreReservation(this, permits, this.#take(permits));
  }

  undo(permits: number, receipt: number, epoch: number): void {
    if (this.#isDisposed || epoch !== this.#epoch) return;
    this.#algorithm.undo(this.#cells, 0, permits, receipt);
    this.#afterReturn();
  }

  release(permits: number, epoch: number): void {
    if (this.#isDisposed || epoch !== this.#epoch || permits === 0) return;
    this.#algorithm.release(this.#cells, 0, permits);
    this.#afterReturn();
  }

  hold(): void {
    this.#holds++;
  }

  unhold(): void {
    this.#holds--;
  }

  quota(): RateLimitQuota {
    const remaining = this.#algorithm.available(this.#cells, 0);
    return quotaEntry(this.#algorithm, remaining, this.#algorithm.untilFull(this.#cells, 0, this.#reading));
  }

  retryAfterMs(permits: number): number | undefined {
    const dueAt = this.#dueAt(permits);
    return Number.isNaN(dueAt) ? undefined : toRetryAfterMs(dueAt - this.#reading);
  }

  /** When the waiter in turn can go, in clock milliseconds from now; `NaN` where no timer would tell. */
  delayUntilMs(permits: number): number {
    if (this.#algorithm.isManual || !this.#algorithm.isReplenishing) return NaN;
    return toMilliseconds(this.#algorithm.dueAt(this.#cells, 0, Math.max(1, permits)) - this.#read());
  }

  getStatistics(): RateLimiterStatistics {
    this.bringUpToDate();
    return {
      currentAvailablePermits: Math.max(0, this.#algorithm.available(this.#cells, 0)),
      currentQueuedCount: this.#room?.queue.permits ?? 0,
      totalFailedLeases: this.#refused,
      totalSuccessfulLeases: this.#granted,
    };
  }

  /** Goes on with other numbers: what is spent stays spent, what is held stays held. */
  change(algorithm: PermitAlgorithm, options: CoreOptions): void {
    this.bringUpToDate();
    this.#cells = algorithm.adopt(this.#algorithm, this.#cells, this.#read());
    this.#algorithm = algorithm;
    this.#options = options;
    this.#room?.reorder(options.queueProcessingOrder);
    this.#room?.refuseAbove(algorithm.limit);
    this.#room?.serve();
  }

  /** As new: leases handed out before give nothing back afterwards. */
  reset(): void {
    if (this.#isDisposed) return;
    this.#epoch++;
    this.#algorithm.initialize(this.#cells, 0, this.#read());
    this.#room?.serve();
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.bringUpToDate();
    this.#isDisposed = true;
    this.#room?.close();
  }

  #read(): number {
    this.#reading = readNanoseconds(this.#options.clock, this.#originMs);
    return this.#reading;
  }

  #take(permits: number): number {
    return permits === 0 ? 0 : this.#algorithm.take(this.#cells, 0, permits, this.#reading);
  }

  #dueAt(permits: number): number {
    const needed = Math.max(1, permits);
    const room = this.#room;
    if (room === null || this.#options.queueProcessingOrder === 'newestFirst') {
      return this.#algorithm.dueAt(this.#cells, 0, needed);
    }
    return this.#algorithm.dueBehind(this.#cells, 0, room.queue, needed);
  }

  #refusal(reason: string | undefined, permits: number): RefusedLease {
    this.#refused++;
    const remaining = this.#algorithm.available(this.#cells, 0);
    const untilFull = this.#algorithm.untilFull(this.#cells, 0, this.#reading);
    return new RefusedLease(reason, this.retryAfterMs(permits)).withQuota(
      this.#algorithm,
      remaining,
      untilFull,
    );
  }

  #makeRoom(permits: number): boolean {
    const room = this.#room;
    if (room === null || this.#options.queueLimit - room.queue.permits >= permits) return true;
    if (permits === 0) return true;
    if (this.#options.queueProcessingOrder !== 'newestFirst') return false;
    return room.evict(this.#options.queueLimit - permits, (evicted) =>
      this.#refusal(REASON.evicted, evicted),
    );
  }

  #afterReturn(): void {
    this.#room?.serve();
    if (Number.isNaN(this.#algorithm.fullSince(this.#cells, 0))) return;
    this.#algorithm.markFull(this.#cells, 0, this.#read());
  }
}
