import { ConnectionsPerKeyLimiter } from '@ratelease/active-session';
import type { Clock } from '@ratelease/limiters';
import type { RateLimitingModuleOptions } from '@ratelease/nestjs';
import { byUser, SelectiveRateLimiterPolicy } from '@ratelease/nestjs';

/** Three connections per user; all messages of a connection share its permit. */
export function chatPolicies(clock: Clock) {
  const limiter = new ConnectionsPerKeyLimiter({ permitLimit: 3, key: byUser(), clock });
  return {
    chatConnections: new SelectiveRateLimiterPolicy(limiter),
  } satisfies RateLimitingModuleOptions['policies'];
}
