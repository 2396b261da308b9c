import { ConcurrencyLimiter } from '../../concurrency/concurrency-limiter.js';
import { createChainedRateLimiter } from '../../chained/chained-rate-limiter.js';
import { ObjectDisposedError } from '../../errors.js';
import { abortedSignal, describe, follow, thrownBy, verify } from '../conformance-check.js';
import type { Try } from './arguments.js';

/** How a limiter lives, idles and ends, and what it does among others. */
export const lifetimeChecks: Readonly<Record<string, Try>> = {
  'sets no timer while nobody waits'(trial) {
    trial.exhaust();
    trial.limiter.attemptAcquire(1);
    trial.limiter.getStatistics();
    verify(trial.clock.pendingTimers === 0, 'a timer is set although nobody waits');
  },

  async 'is idle once everything is back, and not before'(trial) {
    const { limiter, clock } = trial;
    trial.exhaust();
    verify(limiter.idleDurationMs === null, 'it says it is idle while permits are out');
    await trial.giveBack();
    const idle = limiter.idleDurationMs;
    if (idle === null) return;
    verify(idle >= 0, `it has been idle for ${idle} ms`);
    clock.advance(5);
    const later = limiter.idleDurationMs;
    verify(later !== null && later >= idle, 'its idle time does not grow with the clock');
  },

  'says how it replenishes'({ limiter }) {
    verify(typeof limiter.isAutoReplenishing === 'boolean', 'isAutoReplenishing must be a boolean');
    verify(limiter.replenishmentPeriodMs > 0, 'replenishmentPeriodMs must be above 0');
    verify(typeof limiter.tryReplenish() === 'boolean', 'tryReplenish must return a boolean');
  },

  'gives nothing more after its end'({ limiter }) {
    limiter.dispose();
    for (const permits of [0, 1]) {
      const error = thrownBy(() => limiter.attemptAcquire(permits));
      verify(error instanceof ObjectDisposedError, `expected an ObjectDisposedError: ${describe(error)}`);
    }
  },

  async 'rejects requests after its end, the wrong ones for what is wrong with them'({ limiter, limit }) {
    limiter.dispose();
    const late = await follow(limiter.acquire(1));
    verify(
      late.error instanceof ObjectDisposedError,
      `expected an ObjectDisposedError: ${describe(late.error)}`,
    );
    const aborted = await follow(limiter.acquire(1, { signal: abortedSignal(new Error('aborted')) }));
    verify(aborted.error instanceof ObjectDisposedError, 'the end comes before an aborted signal');
    const wrong = await follow(limiter.acquire(limit + 1));
    verify(wrong.error instanceof RangeError, 'a count above the limit comes before the end');
  },

  'can be looked at after its end'(trial) {
    const lease = trial.take(1);
    const { limiter } = trial;
    const before = JSON.stringify(limiter.getStatistics());
    limiter.dispose();
    limiter.dispose();
    verify(JSON.stringify(limiter.getStatistics()) === before, 'the statistics changed at the end');
    lease.dispose();
    verify(!limiter.tryReplenish(), 'it replenishes after its end');
    const idle = limiter.idleDurationMs;
    verify(idle === null || idle >= 0, `after its end it is idle for ${idle} ms`);
  },

  async 'costs the other members of a chain nothing when it refuses'(trial) {
    const other = new ConcurrencyLimiter({ permitLimit: trial.limit, clock: trial.clock });
    trial.exhaust();
    for (const members of [
      [other, trial.limiter],
      [trial.limiter, other],
    ]) {
      const chain = createChainedRateLimiter(...members);
      verify(!chain.attemptAcquire(1).isAcquired, 'a chain granted what this member refuses');
      const { currentAvailablePermits } = other.getStatistics();
      verify(currentAvailablePermits === trial.limit, 'the refusal cost another member permits');
    }
    await trial.giveBack();
    const chain = createChainedRateLimiter(other, trial.limiter);
    verify(chain.attemptAcquire(1).isAcquired, 'a chain refused what all its members have');
  },
};
