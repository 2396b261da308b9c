import { FixedWindowRateLimiter } from '@ratelease/limiters';
import { chainOf } from './chain.mjs';

/** The last limiter refuses: all before it are asked, and none is charged. */
export const contestant = {
  title: 'ratelease, windows refused',
  create(length) {
    let made = 0;
    const limiter = chainOf(length, () => {
      const permitLimit = ++made === length ? 1 : 1_000_000_000;
      return new FixedWindowRateLimiter({ permitLimit, windowMs: 600_000 });
    });
    limiter.attemptAcquire();
    return { isRefused: true, decide: () => limiter.attemptAcquire().isAcquired };
  },
};
