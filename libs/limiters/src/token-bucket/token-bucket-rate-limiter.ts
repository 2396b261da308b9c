import { requireDuration, requireInteger, requireOneOf } from '../checks.js';
import { changedOptions } from '../engine/changed-options.js';
import type { ReplenishingLimiterOptions } from '../engine/limiter-options.js';
import { LimiterKind, LimiterPlan } from '../engine/limiter-plan.js';
import { readCoreOptions, readIsManual } from '../engine/limiter-options.js';
import { TimedRateLimiter } from '../engine/timed-rate-limiter.js';
import type { PermitAlgorithm } from '../engine/algorithm.js';
import { GreedyBucketAlgorithm } from './greedy-bucket-algorithm.js';
import { IntervalBucketAlgorithm } from './interval-bucket-algorithm.js';

/** Options of a {@link TokenBucketRateLimiter}. */
export interface TokenBucketRateLimiterOptions extends ReplenishingLimiterOptions {
  /** The most tokens that the bucket holds, an integer of at least 1: the largest burst. */
  readonly tokenLimit: number;
  /** The tokens that a period brings, an integer of at least 1. */
  readonly tokensPerPeriod: number;
  /** The period in milliseconds, finite and above 0; fractions are allowed. */
  readonly replenishmentPeriodMs: number;
  /** `'greedy'`: continuously. `'interval'`: all tokens of a period at its end. @defaultValue `'greedy'` */
  readonly refill?: 'greedy' | 'interval' | undefined;
}

const NAME = 'TokenBucketRateLimiter';

function readAlgorithm(options: TokenBucketRateLimiterOptions): PermitAlgorithm {
  const numbers = {
    tokenLimit: requireInteger(NAME, 'tokenLimit', options.tokenLimit, [1]),
    tokensPerPeriod: requireInteger(NAME, 'tokensPerPeriod', options.tokensPerPeriod, [1]),
    replenishmentPeriodMs: requireDuration(NAME, 'replenishmentPeriodMs', options.replenishmentPeriodMs),
  };
  const isManual = readIsManual(NAME, options);
  return requireOneOf(NAME, 'refill', options.refill, ['greedy', 'interval']) === 'greedy'
    ? new GreedyBucketAlgorithm(numbers, isManual)
    : new IntervalBucketAlgorithm(numbers, isManual);
}

/** @internal */
export const tokenBucketRateLimiterKind = new LimiterKind<TokenBucketRateLimiterOptions>(
  NAME,
  [
    'tokenLimit',
    'tokensPerPeriod',
    'replenishmentPeriodMs',
    'refill',
    'queueLimit',
    'queueProcessingOrder',
    'autoReplenishment',
    'clock',
  ],
  (options) => new LimiterPlan(NAME, readAlgorithm(options), readCoreOptions(NAME, options), options),
);

/**
 * Grants what is in a bucket that starts full and fills at a steady rate: bursts up to `tokenLimit`, in the long
 * run `tokensPerPeriod` a period.
 *
 * @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for options outside their range.
 */
export class TokenBucketRateLimiter extends TimedRateLimiter {
  constructor(options: TokenBucketRateLimiterOptions) {
    super(tokenBucketRateLimiterKind.plan(options));
  }

  /**
   * Changes options of the living limiter. What is spent stays spent: under a lower limit nothing is granted
   * until enough has come back, and waiters that ask for more than it are refused with `Limit lowered`.
   *
   * @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for values outside their range; nothing changes.
   */
  updateOptions(changes: Partial<TokenBucketRateLimiterOptions>): void {
    this.replaceOptions(
      changedOptions(
        tokenBucketRateLimiterKind,
        this.currentOptions as TokenBucketRateLimiterOptions,
        changes,
        {
          clock: undefined,
          autoReplenishment: true,
          refill: 'greedy',
        },
      ),
    );
  }

  /** @internal */
  replaceOptions(options: TokenBucketRateLimiterOptions): void {
    this.change(tokenBucketRateLimiterKind.plan(options));
  }
}
