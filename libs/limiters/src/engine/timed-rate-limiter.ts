import type { ChainParticipant } from '../chained/chain-participant.js';
import { chainParticipants } from '../chained/chain-participant.js';
import { acquireWithTimeout } from '../queue/wait-limit.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import { ReplenishingRateLimiter } from '../replenishing-rate-limiter.js';
import { OwnCore } from './own-core.js';
import type { LimiterPlan } from './limiter-plan.js';
import { soleParticipant, waitsOtherwise } from './participants.js';

/** What the limiters have in common whose permits come back with time: everything but their options. */
export abstract class TimedRateLimiter extends ReplenishingRateLimiter {
  readonly #core: OwnCore;

  /** @internal */
  constructor(plan: LimiterPlan) {
    super();
    this.#core = OwnCore.create(plan);
  }

  override get isAutoReplenishing(): boolean {
    return !this.#core.algorithm.isManual;
  }

  override get replenishmentPeriodMs(): number {
    return this.#core.algorithm.periodMs;
  }

  override get idleDurationMs(): number | null {
    return this.#core.idleDurationMs;
  }

  override tryReplenish(): boolean {
    return this.#core.tryReplenish();
  }

  override getStatistics(): RateLimiterStatistics {
    return this.#core.getStatistics();
  }

  /** Makes the limiter as new: everything is available, and leases handed out before give nothing back. */
  reset(): void {
    this.#core.reset();
  }

  override dispose(): void {
    this.#core.dispose();
  }

  /** What a chain takes from; see {@link ChainParticipant}. */
  [chainParticipants](): readonly ChainParticipant[] | null {
    return soleParticipant(this, TimedRateLimiter.prototype, this.#core);
  }

  protected override assertAcquirable(permitCount: number): void {
    this.#core.assertAcquirable(permitCount);
  }

  protected override attemptAcquireCore(permitCount: number): RateLimitLease {
    return this.#core.attempt(permitCount);
  }

  protected override acquireCore(permitCount: number, signal?: AbortSignal): Promise<RateLimitLease> {
    return this.#core.acquire(permitCount, signal, Infinity);
  }

  protected override acquireWithin(
    permitCount: number,
    maxWaitMs: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease> {
    if (waitsOtherwise(this, TimedRateLimiter.prototype)) {
      const acquire = (own: AbortSignal): Promise<RateLimitLease> => this.acquireCore(permitCount, own);
      return acquireWithTimeout(acquire, maxWaitMs, signal, this.#core.clock);
    }
    return this.#core.acquire(permitCount, signal, maxWaitMs);
  }

  /** @internal The options as they are now. */
  protected get currentOptions(): object {
    return this.#core.options;
  }

  /** @internal */
  protected change(plan: LimiterPlan): void {
    this.#core.change(plan);
  }
}
