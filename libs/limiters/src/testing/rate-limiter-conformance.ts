import type { RateLimiter } from '../rate-limiter.js';
import { argumentChecks } from './checks/arguments.js';
import type { Try } from './checks/arguments.js';
import { grantingChecks } from './checks/granting.js';
import { lifetimeChecks } from './checks/lifetime.js';
import { waitingChecks } from './checks/waiting.js';
import type { ConformanceCheck, RateLimiterTraits } from './conformance-check.js';
import { Trial } from './conformance-check.js';
import type { FakeClock } from './fake-clock.js';

/**
 * The contract of {@link RateLimiter} as tests for a limiter of your own, in whatever test runner you use:
 *
 * ```ts
 * const checks = rateLimiterConformance((clock) => new MyLimiter({ permitLimit: 3, clock }), { permitLimit: 3 });
 * for (const { name, run } of checks) it(name, run);
 * ```
 *
 * Nothing waits for real time, except for a turn of the event loop here and there: don't run it under fake timers.
 *
 * @param createLimiter - makes a new limiter that goes by the clock given; called once per check.
 * @param traits - the limit, the queue and the time after which permits come back.
 * @returns the checks, each independent of the others; those about waiting only where the queue has room.
 */
export function rateLimiterConformance(
  createLimiter: (clock: FakeClock) => RateLimiter,
  traits: RateLimiterTraits,
): ConformanceCheck[] {
  const all: Record<string, Try> = { ...argumentChecks, ...grantingChecks, ...lifetimeChecks };
  if ((traits.queueLimit ?? 0) > 0) Object.assign(all, waitingChecks);
  return Object.entries(all).map(([name, attempt]) => ({
    name,
    run: async () => {
      await attempt(new Trial(createLimiter, traits));
    },
  }));
}
