import type { ChainParticipant } from '../../chained/chain-participant.js';
import { participantsOf } from '../../chained/chain-participant.js';
import type { AsyncRateLimiter } from '../../async-rate-limiter.js';
import { ConcurrencyLimiter } from '../../concurrency/concurrency-limiter.js';
import { LimiterCore } from '../../engine/limiter-core.js';
import { FixedWindowRateLimiter } from '../../fixed-window/fixed-window-rate-limiter.js';
import { saysWhenEnded } from '../../managed-lifetime/when-ended.js';
import { isRateLimiter } from '../../rate-limiter.js';
import type { RateLimiter } from '../../rate-limiter.js';
import { SlidingWindowRateLimiter } from '../../sliding-window/sliding-window-rate-limiter.js';
import { TokenBucketRateLimiter } from '../../token-bucket/token-bucket-rate-limiter.js';
import { NoopRateLimiter } from '../noop-rate-limiter.js';
import { foreseeableIdle } from '../foreseeable-idle.js';
import { isAwaited } from './awaited-limiters.js';
import type { RateLimitPartition } from '../rate-limit-partition.js';

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

/** The end of a limiter's idleness can be told beforehand: only of limiters that we know. */
export const PREDICTABLE = 1;
/** A limiter needn't be looked at to learn that it may go. */
export const SAYS_WHEN_ENDED = 2;
/** A limiter has to be replenished by its keeper: it doesn't do so by itself, or we can't know. */
export const MANUAL = 4;
/** A limiter that can't answer at once: who waits for it waits elsewhere, and nothing of a request is kept for that. */
export const ELSEWHERE = 8;

/** What a page has to know of each of its limiters, as bits. */
export function traitsOf(limiter: AsyncRateLimiter): number {
  const isPredictable = FORESEEABLE.has(limiter.constructor) || saysSo(limiter);
  const isHere = isRateLimiter(limiter);
  const isManual = isHere && (!limiter.isAutoReplenishing || !isPredictable);
  return (
    (isPredictable ? PREDICTABLE : 0) |
    (saysWhenEnded(limiter) ? SAYS_WHEN_ENDED : 0) |
    (isManual ? MANUAL : 0) |
    (isHere ? 0 : ELSEWHERE)
  );
}

/** Whether a limiter may be thrown away: idle for longer than that, and no waiting chain involves it. */
export function isEvictable(limiter: AsyncRateLimiter, idleTimeoutMs: number): boolean {
  const idleMs = limiter.idleDurationMs;
  return idleMs !== null && idleMs > idleTimeoutMs && !isHeld(limiter);
}

function isHeld(limiter: AsyncRateLimiter): boolean {
  return isAwaited(limiter) || (participantsOf(limiter)?.some((participant) => participant.isHeld) ?? false);
}

function hasWaiters(participant: ChainParticipant): boolean {
  return participant instanceof LimiterCore && participant.hasWaiters;
}

/** A limiter of a partition of which more has to be known: somebody may wait in it, or it is to be replenished. */
export class KeptLimiter {
  /** For reports. */
  readonly key: unknown;
  readonly limiter: AsyncRateLimiter;
  /** The limiter, where it has to be replenished by its keeper. */
  readonly manual: RateLimiter | null;
  /**
   * What the partitioner said last, for a refresh of options that can't wait for the next use. It may hold on to a
   * request, so it goes at the next look at a partition that nobody waits in.
   */
  declared: RateLimitPartition<unknown, AsyncRateLimiter> | null = null;

  constructor(key: unknown, limiter: AsyncRateLimiter, traits: number) {
    this.key = key;
    this.limiter = limiter;
    this.manual = (traits & MANUAL) === 0 ? null : (limiter as RateLimiter);
  }

  /** Whether somebody waits in it, as far as it tells. */
  get hasWaiters(): boolean {
    if ((this.limiter.getStatistics()?.currentQueuedCount ?? 0) > 0) return true;
    // Who asks for no permits isn't counted among those queued.
    return isHeld(this.limiter) || (participantsOf(this.limiter)?.some(hasWaiters) ?? false);
  }
}
