import type { AsyncRateLimiter } from '../async-rate-limiter.js';
import type { WaitLimits } from '../partitioned/partitioned-rate-limiter.js';
import { ObjectDisposedError } from '../errors.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import { RateLimiter } from '../rate-limiter.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import type { ChainParticipant } from './chain-participant.js';
import type { Endable } from './chain-end.js';
import type { ChainOwner } from './chain-request.js';
import { hasEnded, isEnded } from './chain-end.js';
import { chainParticipants, participantsOf } from './chain-participant.js';
import { combineStatistics } from './chain-statistics.js';
import { partitionsAmong, partitionsBehind } from './partitions-behind.js';

/** How a chain of partitioned limiters decides, once it knows whose partitions are asked. */
export interface ChainDecider {
  attempt(limiters: readonly AsyncRateLimiter[], permits: number): RateLimitLease;
  acquire(limiters: readonly AsyncRateLimiter[], permits: number, wait: WaitLimits): Promise<RateLimitLease>;
}

/** A chain of partitioned limiters together with one resource: what stands for it in a chain around it. */
export class ResolvedChain extends RateLimiter {
  readonly limiters: readonly AsyncRateLimiter[];
  readonly chain: ChainOwner & Endable;
  readonly #decider: ChainDecider;

  constructor(limiters: readonly AsyncRateLimiter[], decider: ChainDecider, chain: ChainOwner & Endable) {
    super();
    this.chain = chain;
    this.limiters = limiters;
    this.#decider = decider;
  }

  /** @internal */
  get [hasEnded](): boolean {
    return this.chain[hasEnded] || this.limiters.some(isEnded);
  }

  /** @internal */
  get [partitionsBehind](): readonly AsyncRateLimiter[] {
    return partitionsAmong(this.limiters);
  }

  override get idleDurationMs(): null {
    return null;
  }

  override getStatistics(): RateLimiterStatistics {
    return combineStatistics(this.limiters.map((limiter) => limiter.getStatistics()));
  }

  /** Those of all members, in order, where all have some. */
  [chainParticipants](): readonly ChainParticipant[] | null {
    const all: ChainParticipant[] = [];
    for (const limiter of this.limiters) {
      const participants = participantsOf(limiter);
      if (participants === null) return null;
      all.push(...participants);
    }
    return all;
  }

  /** Members of other makers before it may have been waited for since it was resolved. */
  protected override assertAcquirable(): void {
    if (this[hasEnded]) throw new ObjectDisposedError('ChainedPartitionedRateLimiter');
  }

  protected override attemptAcquireCore(permitCount: number): RateLimitLease {
    return this.#decider.attempt(this.limiters, permitCount);
  }

  protected override acquireCore(permitCount: number, signal?: AbortSignal): Promise<RateLimitLease> {
    return this.#decider.acquire(this.limiters, permitCount, { maxWaitMs: Infinity, signal });
  }

  protected override acquireWithin(
    permitCount: number,
    maxWaitMs: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease> {
    return this.#decider.acquire(this.limiters, permitCount, { maxWaitMs, signal });
  }
}
