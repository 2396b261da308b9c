import { RateLimiter } from './rate-limiter.js';

const BRAND = Symbol.for('ratelease.replenishing-rate-limiter');

/**
 * A limiter whose permits come back with time. With auto replenishment every call first applies what is due;
 * without, nothing changes until {@link RateLimiter.tryReplenish} is called.
 */
export abstract class ReplenishingRateLimiter extends RateLimiter {
  /** Whether time alone brings permits back. */
  abstract override get isAutoReplenishing(): boolean;

  /** Milliseconds between two replenishments, not rounded. */
  abstract override get replenishmentPeriodMs(): number;

  /**
   * Applies everything that is due, in closed form however long it was put off, then serves the queue.
   * @returns `false` when nothing was due, with auto replenishment, and after disposal.
   */
  abstract override tryReplenish(): boolean;

  /** Recognises the limiters of another loaded copy of this package, and chains with such a member. */
  static override [Symbol.hasInstance](
    this: abstract new (...args: never) => unknown,
    value: unknown,
  ): boolean {
    if (this !== (ReplenishingRateLimiter as unknown))
      return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
  }
}

Object.defineProperty(ReplenishingRateLimiter.prototype, BRAND, { value: true });

/** Lets a limiter whose members decide it (a chain) say whether it counts as replenishing. */
export const replenishingBrand: symbol = BRAND;
