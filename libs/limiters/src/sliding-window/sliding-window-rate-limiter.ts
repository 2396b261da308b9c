import { requireDuration, requireInteger } from '../checks.js';
import { changedOptions } from '../engine/changed-options.js';
import type { ReplenishingLimiterOptions } from '../engine/limiter-options.js';
import { LimiterKind, LimiterPlan } from '../engine/limiter-plan.js';
import { readCoreOptions, readIsManual } from '../engine/limiter-options.js';
import { TimedRateLimiter } from '../engine/timed-rate-limiter.js';
import { SlidingWindowAlgorithm } from './sliding-window-algorithm.js';

/** Options of a {@link SlidingWindowRateLimiter}. */
export interface SlidingWindowRateLimiterOptions extends ReplenishingLimiterOptions {
  /** The most permits granted in a window, an integer of at least 1. */
  readonly permitLimit: number;
  /** The length of the window in milliseconds, finite and above 0; fractions are allowed. */
  readonly windowMs: number;
  /**
   * Into how many segments the window is divided, an integer from 1 to 1,000,000. More follow time more closely and
   * take more memory and time: a number each. From some hundred on take a token bucket, which follows time exactly.
   */
  readonly segmentsPerWindow: number;
}

const NAME = 'SlidingWindowRateLimiter';

/**
 * A segment takes a number in memory, used or not, and decisions look at those that have passed or are to come: at
 * this most 8 MB, and some milliseconds a decision. A list of the used ones would need no cap, but is slower for
 * everybody else, and itself as long as the limit is high.
 */
const MOST_SEGMENTS = 1_000_000;

function readAlgorithm(options: SlidingWindowRateLimiterOptions): SlidingWindowAlgorithm {
  return new SlidingWindowAlgorithm(
    requireInteger(NAME, 'permitLimit', options.permitLimit, [1]),
    requireDuration(NAME, 'windowMs', options.windowMs),
    requireInteger(NAME, 'segmentsPerWindow', options.segmentsPerWindow, [1, MOST_SEGMENTS]),
    readIsManual(NAME, options),
  );
}

/** @internal */
export const slidingWindowRateLimiterKind = new LimiterKind<SlidingWindowRateLimiterOptions>(
  NAME,
  [
    'permitLimit',
    'windowMs',
    'segmentsPerWindow',
    'queueLimit',
    'queueProcessingOrder',
    'autoReplenishment',
    'clock',
  ],
  (options) => new LimiterPlan(NAME, readAlgorithm(options), readCoreOptions(NAME, options), options),
);

/**
 * Grants at most `permitLimit` permits in a window that moves on segment by segment: what a segment has granted
 * comes back when the window leaves it. After a burst nothing comes back for almost a window, then all of it at
 * once: where a steady trickle is wanted take the token bucket.
 *
 * @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for options outside their range.
 */
export class SlidingWindowRateLimiter extends TimedRateLimiter {
  constructor(options: SlidingWindowRateLimiterOptions) {
    super(slidingWindowRateLimiterKind.plan(options));
  }

  /**
   * Changes options of the living limiter. What is spent stays spent: under a lower limit nothing is granted
   * until enough has come back, and waiters that ask for more than it are refused with `Limit lowered`.
   *
   * @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for values outside their range; nothing changes.
   */
  updateOptions(changes: Partial<SlidingWindowRateLimiterOptions>): void {
    this.replaceOptions(
      changedOptions(
        slidingWindowRateLimiterKind,
        this.currentOptions as SlidingWindowRateLimiterOptions,
        changes,
        {
          clock: undefined,
          autoReplenishment: true,
        },
      ),
    );
  }

  /** @internal */
  replaceOptions(options: SlidingWindowRateLimiterOptions): void {
    this.change(slidingWindowRateLimiterKind.plan(options));
  }
}
