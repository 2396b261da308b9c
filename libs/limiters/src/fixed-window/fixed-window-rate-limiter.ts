import { requireDuration, requireInteger } from '../checks.js';
import { changedOptions } from '../engine/changed-options.js';
import type { ReplenishingLimiterOptions } from '../engine/limiter-options.js';
import { LimiterKind, LimiterPlan } from '../engine/limiter-plan.js';
import { readCoreOptions, readIsManual } from '../engine/limiter-options.js';
import { TimedRateLimiter } from '../engine/timed-rate-limiter.js';
import { FixedWindowAlgorithm } from './fixed-window-algorithm.js';

/** Options of a {@link FixedWindowRateLimiter}. */
export interface FixedWindowRateLimiterOptions extends ReplenishingLimiterOptions {
  /** The most permits granted in a window, an integer of at least 1. */
  readonly permitLimit: number;
  /** The length of a window in milliseconds, finite and above 0; fractions are allowed. */
  readonly windowMs: number;
}

const NAME = 'FixedWindowRateLimiter';

function readAlgorithm(options: FixedWindowRateLimiterOptions): FixedWindowAlgorithm {
  return new FixedWindowAlgorithm(
    requireInteger(NAME, 'permitLimit', options.permitLimit, [1]),
    requireDuration(NAME, 'windowMs', options.windowMs),
    readIsManual(NAME, options),
  );
}

/** @internal */
export const fixedWindowRateLimiterKind = new LimiterKind<FixedWindowRateLimiterOptions>(
  NAME,
  ['permitLimit', 'windowMs', 'queueLimit', 'queueProcessingOrder', 'autoReplenishment', 'clock'],
  (options) => new LimiterPlan(NAME, readAlgorithm(options), readCoreOptions(NAME, options), options),
);

/**
 * Grants at most `permitLimit` permits in each window; windows lie end to end from the construction on. A burst
 * at the end of one and at the start of the next makes up to twice the limit in less than a window: where that
 * matters take the sliding window or the token bucket.
 *
 * @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for options outside their range.
 */
export class FixedWindowRateLimiter extends TimedRateLimiter {
  constructor(options: FixedWindowRateLimiterOptions) {
    super(fixedWindowRateLimiterKind.plan(options));
  }

  /**
   * Changes options of the living limiter. What is spent stays spent: under a lower limit nothing is granted
   * until enough has come back, and waiters that ask for more than it are refused with `Limit lowered`.
   *
   * @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for values outside their range; nothing changes.
   */
  updateOptions(changes: Partial<FixedWindowRateLimiterOptions>): void {
    this.replaceOptions(
      changedOptions(
        fixedWindowRateLimiterKind,
        this.currentOptions as FixedWindowRateLimiterOptions,
        changes,
        {
          clock: undefined,
          autoReplenishment: true,
        },
      ),
    );
  }

  /** @internal */
  replaceOptions(options: FixedWindowRateLimiterOptions): void {
    this.change(fixedWindowRateLimiterKind.plan(options));
  }
}
