import type { ChainParticipant } from '../chained/chain-participant.js';
import { chainParticipants } from '../chained/chain-participant.js';
import { requireInteger } from '../checks.js';
import { changedOptions } from '../engine/changed-options.js';
import type { LimiterOptions } from '../engine/limiter-options.js';
import { LimiterKind, LimiterPlan } from '../engine/limiter-plan.js';
import { readCoreOptions } from '../engine/limiter-options.js';
import { OwnCore } from '../engine/own-core.js';
import { soleParticipant, waitsOtherwise } from '../engine/participants.js';
import { acquireWithTimeout } from '../queue/wait-limit.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import { RateLimiter } from '../rate-limiter.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import { ConcurrencyAlgorithm } from './concurrency-algorithm.js';

/** Options of a {@link ConcurrencyLimiter}. */
export interface ConcurrencyLimiterOptions extends LimiterOptions {
  /** The most permits that may be held at once, an integer of at least 1. */
  readonly permitLimit: number;
}

const NAME = 'ConcurrencyLimiter';

function readAlgorithm(options: ConcurrencyLimiterOptions): ConcurrencyAlgorithm {
  return new ConcurrencyAlgorithm(requireInteger(NAME, 'permitLimit', options.permitLimit, [1]));
}

/** @internal */
export const concurrencyLimiterKind = new LimiterKind<ConcurrencyLimiterOptions>(
  NAME,
  ['permitLimit', 'queueLimit', 'queueProcessingOrder', 'clock'],
  (options) => new LimiterPlan(NAME, readAlgorithm(options), readCoreOptions(NAME, options), options),
);

/**
 * Limits how much runs at once: permits are held from the grant until the lease is disposed, and go to the next
 * waiter in the same instant.
 *
 * @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for options outside their range.
 */
export class ConcurrencyLimiter extends RateLimiter {
  readonly #core: OwnCore;

  constructor(options: ConcurrencyLimiterOptions) {
    super();
    this.#core = OwnCore.create(concurrencyLimiterKind.plan(options));
  }

  // From here on what a core answers is handed on as `TimedRateLimiter` does it. That has another base class, and what
  // both could be made of by a mixin would have no protected members in its declarations (TS4094).

  override get idleDurationMs(): number | null {
    return this.#core.idleDurationMs;
  }

  override getStatistics(): RateLimiterStatistics {
    return this.#core.getStatistics();
  }

  /**
   * Changes options of the living limiter. What is held stays held: under a lower limit nothing is granted
   * until enough has come back, and waiters that ask for more than it are refused with `Limit lowered`.
   *
   * @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for values outside their range; nothing changes.
   */
  updateOptions(changes: Partial<ConcurrencyLimiterOptions>): void {
    this.replaceOptions(
      changedOptions(concurrencyLimiterKind, this.#core.options as ConcurrencyLimiterOptions, changes, {
        clock: undefined,
      }),
    );
  }

  /** @internal */
  replaceOptions(options: ConcurrencyLimiterOptions): void {
    this.#core.change(concurrencyLimiterKind.plan(options));
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
    return soleParticipant(this, ConcurrencyLimiter.prototype, this.#core);
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
    if (waitsOtherwise(this, ConcurrencyLimiter.prototype)) {
      const acquire = (own: AbortSignal): Promise<RateLimitLease> => this.acquireCore(permitCount, own);
      return acquireWithTimeout(acquire, maxWaitMs, signal, this.#core.clock);
    }
    return this.#core.acquire(permitCount, signal, maxWaitMs);
  }
}
