import type { ChainParticipant, Reservation } from '../chained/chain-participant.js';
import { chainParticipants } from '../chained/chain-participant.js';
import type { Instant } from '../chained/instant.js';
import type { Clock } from '../clock.js';
import { nextCreationOrder } from '../engine/creation-order.js';
import { AcquiredLease } from '../engine/granted-lease.js';
import { ObjectDisposedError } from '../errors.js';
import type { RateLimitLease, RateLimitQuota } from '../rate-limit-lease.js';
import { RateLimiter } from '../rate-limiter.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';

const NAME = 'NoLimiter';

class UnlimitedLease extends AcquiredLease {}

const LEASE = new UnlimitedLease();

/** The limiter of `RateLimitPartition.getNoLimiter`: grants everything and is idle since its last use. */
export class NoopRateLimiter extends RateLimiter implements ChainParticipant {
  readonly name = NAME;
  readonly creationOrder = nextCreationOrder();
  readonly permitLimit = Infinity;
  readonly clock: Clock;
  #lastUsedMs: number;
  #granted = 0;
  #holds = 0;
  #isDisposed = false;

  constructor(clock: Clock) {
    super();
    this.clock = clock;
    this.#lastUsedMs = clock.now();
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  override get idleDurationMs(): number {
    return Math.max(0, this.clock.now() - this.#lastUsedMs);
  }

  override getStatistics(): RateLimiterStatistics {
    return {
      currentAvailablePermits: Infinity,
      currentQueuedCount: 0,
      totalFailedLeases: 0,
      totalSuccessfulLeases: this.#granted,
    };
  }

  override dispose(): void {
    this.#isDisposed = true;
  }

  [chainParticipants](): readonly ChainParticipant[] {
    return [this];
  }

  isSame(other: ChainParticipant): boolean {
    return other === this;
  }

  bringUpToDate(): void {
    // Nothing is ever due.
  }

  canGrant(): boolean {
    return true;
  }

  hasEnough(): boolean {
    return true;
  }

  take(): RateLimitLease {
    return this.#takeAt(this.clock.now());
  }

  /** The same within a decision on several limiters. */
  takeIn(instant: Instant): RateLimitLease {
    return this.#takeAt(instant.nowMs(this.clock));
  }

  /** Never asked for: it has no reason to refuse. */
  refuse(): RateLimitLease {
    return LEASE;
  }

  refusalToWait(): null {
    return null;
  }

  enter(): void {
    // Nobody has to wait here.
  }

  reserve(): Reservation {
    return this.reserveInTurn();
  }

  reserveInTurn(): Reservation {
    return { grant: () => this.take(), undo: () => undefined };
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  hold(): void {
    this.#holds++;
  }

  unhold(): void {
    this.#holds--;
  }

  quota(): RateLimitQuota {
    return { limit: Infinity, remaining: Infinity, resetAfterMs: undefined, windowMs: undefined, member: 0 };
  }

  retryAfterMs(): undefined {
    return undefined;
  }

  protected override assertAcquirable(): void {
    if (this.#isDisposed) throw new ObjectDisposedError(NAME);
  }

  protected override attemptAcquireCore(): RateLimitLease {
    return this.take();
  }

  protected override acquireCore(): Promise<RateLimitLease> {
    return Promise.resolve(this.take());
  }

  #takeAt(nowMs: number): RateLimitLease {
    this.#granted++;
    this.#lastUsedMs = nowMs;
    return LEASE;
  }
}
