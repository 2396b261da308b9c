import { RateLimiter } from './rate-limiter.js';

const BRAND: unique symbol = Symbol.for('ratelease.replenishing-rate-limiter') as never;

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
    return typeof value === 'object' && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
  }
}

Object.defineProperty(ReplenishingRateLimiter.prototype, BRAND, { value: true });

/**
 * The key under which a limiter says whether it counts as a {@link ReplenishingRateLimiter} without being a subclass:
 * chains and wrappers are what their members are.
 */
export const replenishingBrand: typeof BRAND = BRAND;
