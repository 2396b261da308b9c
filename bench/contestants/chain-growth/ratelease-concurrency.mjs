import { ConcurrencyLimiter } from '@ratelease/limiters';
import { chainOf } from './chain.mjs';

export const contestant = {
  title: 'ratelease, concurrency, given back',
  create(length) {
    const limiter = chainOf(length, () => new ConcurrencyLimiter({ permitLimit: 10 }));
    return {
      decide() {
        const lease = limiter.attemptAcquire();
        lease.dispose();
        return lease.isAcquired;
      },
    };
  },
};
