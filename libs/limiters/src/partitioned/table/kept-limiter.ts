import { participantsOf } from '../../chained/chain-participant.js';
import type { AsyncRateLimiter } from '../../async-rate-limiter.js';
import { ConcurrencyLimiter } from '../../concurrency/concurrency-limiter.js';
import { FixedWindowRateLimiter } from '../../fixed-window/fixed-window-rate-limiter.js';
import { saysWhenEnded } from '../../managed-lifetime/when-ended.js';
import { isRateLimiter } from '../../rate-limiter.js';
import type { RateLimiter } from '../../rate-limiter.js';
import { SlidingWindowRateLimiter } from '../../sliding-window/sliding-window-rate-limiter.js';
import { TokenBucketRateLimiter } from '../../token-bucket/token-bucket-rate-limiter.js';
import { NoopRateLimiter } from '../noop-rate-limiter.js';
import { foreseeableIdle } from '../foreseeable-idle.js';
import type { PartitionContext, RateLimitPartition } from '../rate-limit-partition.js';

/** The limiters whose idleness only grows by the clock, so that its end can be foreseen. Subclasses may differ. */
const FORESEEABLE = new Set<unknown>([
  ConcurrencyLimiter,
  TokenBucketRateLimiter,
  FixedWindowRateLimiter,
  SlidingWindowRateLimiter,
  NoopRateLimiter,
]);

function saysSo(limiter: AsyncRateLimiter): boolean {
  return (limiter as { [foreseeableIdle]?: unknown })[foreseeableIdle] === true;
}

/** A limiter that was made for a partition, as a whole object. */
export class KeptLimiter {
  readonly key: unknown;
  readonly limiter: AsyncRateLimiter;
  /** Whether the end of its idleness can be told beforehand: only of limiters that we know. */
  readonly isPredictable: boolean;
  /** Whether it needn't be looked at to learn that it may go. */
  readonly saysWhenEnded: boolean;
  /** The limiter, where it has to be replenished by its keeper: it doesn't do so by itself, or we can't know. */
  readonly manual: RateLimiter | null;
  /**
   * What the partitioner said last, for a refresh of options that can't wait for the next use. It may hold on to a
   * request, so it goes at the next look at a partition that nobody waits in.
   */
  declared: RateLimitPartition<unknown, AsyncRateLimiter> | null;

  constructor(declared: RateLimitPartition<unknown, AsyncRateLimiter>, limiter: AsyncRateLimiter) {
    this.key = declared.partitionKey;
    this.declared = declared;
    this.limiter = limiter;
    this.isPredictable = FORESEEABLE.has(limiter.constructor) || saysSo(limiter);
    this.saysWhenEnded = saysWhenEnded(limiter);
    this.manual =
      isRateLimiter(limiter) && (!limiter.isAutoReplenishing || !this.isPredictable) ? limiter : null;
  }

  /** Whether it may be thrown away: idle for longer than that, and no waiting chain involves it. */
  isEvictable(idleTimeoutMs: number): boolean {
    const idleMs = this.limiter.idleDurationMs;
    return idleMs !== null && idleMs > idleTimeoutMs && !this.#isHeld();
  }

  /** Whether somebody waits in it, as far as it tells. */
  get hasWaiters(): boolean {
    return (this.limiter.getStatistics()?.currentQueuedCount ?? 0) > 0 || this.#isHeld();
  }

  /** Asks the options factory again and applies the difference. */
  refresh(context: PartitionContext): void {
    this.declared?.refresh?.(this.limiter, this.key, context);
  }

  #isHeld(): boolean {
    return participantsOf(this.limiter)?.some((participant) => participant.isHeld) ?? false;
  }
}
