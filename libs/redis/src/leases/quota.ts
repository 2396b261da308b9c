import type { RateLimitQuota } from '@ratelease/limiters';
import type { Standing } from '../store/standing.js';
import type { LimiterGroup } from '../store/limiter-group.js';

/** How the limiters of a group stood at a decision. */
export function quotaOf({ definitions }: LimiterGroup, standing: Standing): RateLimitQuota[] {
  return standing.map(({ remaining, resetUs }, member) => {
    const { limit, windowMs } = definitions[member]!;
    return {
      limit,
      remaining: Math.min(limit, remaining),
      // When the permits that are held come back, nobody knows.
      resetAfterMs: windowMs === undefined ? undefined : resetUs / 1_000,
      windowMs,
      member,
    };
  });
}
