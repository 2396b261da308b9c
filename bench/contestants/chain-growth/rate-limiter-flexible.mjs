import { RateLimiterMemory, RateLimiterUnion } from 'rate-limiter-flexible';

const POINTS = 1_000_000_000;
const DURATION_S = 600;

/** It asks its members one after the other: what the earlier ones have counted stays counted. */
export const contestant = {
  title: 'rate-limiter-flexible, windows granted',
  create(length) {
    const members = Array.from(
      { length },
      (_, number) => new RateLimiterMemory({ keyPrefix: `${number}`, points: POINTS, duration: DURATION_S }),
    );
    const limiter = length === 1 ? members[0] : new RateLimiterUnion(...members);
    return {
      isAsync: true,
      async decide() {
        await limiter.consume('user-1');
        return true;
      },
    };
  },
};
