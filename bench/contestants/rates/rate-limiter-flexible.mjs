import { RateLimiterMemory } from 'rate-limiter-flexible';

export const contestant = {
  title: 'rate-limiter-flexible',
  isAsync: true,
  create({ limit, windowMs }) {
    const limiter = new RateLimiterMemory({ points: limit, duration: windowMs / 1000 });
    return {
      async decide(key) {
        try {
          await limiter.consume(key);
          return true;
        } catch (refusal) {
          if (refusal instanceof Error) throw refusal;
          return false;
        }
      },
      size: () => limiter._memoryStorage._storage.size,
    };
  },
};
