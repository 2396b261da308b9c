import { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterUnion } from 'rate-limiter-flexible';

export const contestant = {
  title: 'rate-limiter-flexible',
  async open({ port, limits, limit, windowMs }) {
    const storeClient = new Redis(port, '127.0.0.1');
    await storeClient.ping();
    const limiter = (factor) =>
      new RateLimiterRedis({
        storeClient,
        keyPrefix: `limit-${factor}`,
        points: limit,
        duration: (factor * windowMs) / 1_000,
      });
    const one = limits === 1 ? limiter(1) : new RateLimiterUnion(limiter(1), limiter(2));
    return {
      async decide(key) {
        try {
          await one.consume(key);
          return true;
        } catch (refusal) {
          if (refusal instanceof Error) throw refusal;
          return false;
        }
      },
    };
  },
};
