import { RateLimiter } from 'limiter';

/** It knows no keys: its users keep a `Map`, and nothing leaves that. */
export const contestant = {
  title: 'limiter',
  create({ limit, windowMs }) {
    const limiters = new Map();
    const add = (key) => {
      const limiter = new RateLimiter({ tokensPerInterval: limit, interval: windowMs });
      limiters.set(key, limiter);
      return limiter;
    };
    return { decide: (key) => (limiters.get(key) ?? add(key)).tryRemoveTokens(1) };
  },
};
