import {
  ConcurrencyLimiter,
  FixedWindowRateLimiter,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../index.js';
import type { Clock, ClockTimer, RateLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';

/** A clock whose time is a floating-point number, and whose timers come at the sum of the time and their delay. */
class FloatingClock implements Clock {
  #nowMs: number;
  readonly #timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  fired = 0;

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  setTimer(callback: () => void, delayMs: number): ClockTimer {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Runs at most so many timers, each at its time. */
  advance(most: number): void {
    for (const timer of this.#timers) {
      if (++this.fired > most) return;
      this.#timers.delete(timer);
      this.#nowMs = Math.max(this.#nowMs, timer.atMs);
      timer.callback();
    }
  }
}

const WAITING = 100;
const queueLimit = WAITING;

const MAKE: Record<string, (clock: Clock) => RateLimiter> = {
  'a greedy bucket': (clock) =>
    new TokenBucketRateLimiter({
      tokenLimit: 1,
      tokensPerPeriod: 3,
      replenishmentPeriodMs: 1_000,
      queueLimit,
      clock,
    }),
  'an interval bucket': (clock) =>
    new TokenBucketRateLimiter({
      tokenLimit: 1,
      tokensPerPeriod: 1,
      replenishmentPeriodMs: 333.3333,
      refill: 'interval',
      queueLimit,
      clock,
    }),
  'a fixed window': (clock) =>
    new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 333.333333, queueLimit, clock }),
  'a sliding window': (clock) =>
    new SlidingWindowRateLimiter({
      permitLimit: 1,
      windowMs: 1_000,
      segmentsPerWindow: 3,
      queueLimit,
      clock,
    }),
  'a concurrency limiter': (clock) => new ConcurrencyLimiter({ permitLimit: 1, queueLimit, clock }),
};

// Milliseconds since 1970 with fractions are told apart by a quarter of a thousandth, those of some time later by half of one.
const STARTS = [0.1, 1_234.5678, 1e9 + 0.123456, 1.7e12, 1.7e12 + 0.1234567, 4e12 + 0.3, -1.7e12];

/** Months, a thousand years, and more milliseconds than a number counts: nanoseconds are not told apart any more. */
const LATER_MS = [2 ** 33 + 0.1, 2 ** 45, 2 ** 53];

describe.each(Object.entries(MAKE))('%s that is used long after it was made', (_, make) => {
  it.each(LATER_MS)(
    'sets no timers again and again for a moment that it can not read (after %d ms)',
    async (laterMs) => {
      const clock = new FakeClock();
      const limiter = make(clock);
      clock.advance(laterMs);
      limiter.attemptAcquire();
      const waiting = Array.from({ length: WAITING }, (__, index) =>
        limiter.acquire(1, limiter instanceof ConcurrencyLimiter ? { maxWaitMs: 1 + index * 0.37 } : {}),
      );
      for (let step = 0; step < WAITING; step++) clock.advance(1_000);
      expect(limiter.getStatistics()!.currentQueuedCount).toBe(0);
      await Promise.all(waiting);
      expect(clock.pendingTimers).toBe(0);
    },
  );
});

describe.each(Object.entries(MAKE))('%s whose clock reads large numbers', (_, make) => {
  it.each(STARTS)(
    'sets no timers again and again that come too early for the moment waited for (%p)',
    async (startMs) => {
      for (const clock of [new FloatingClock(startMs), new FakeClock(startMs)]) {
        const limiter = make(clock);
        limiter.attemptAcquire();
        const waiting = Array.from({ length: WAITING }, (__, index) =>
          limiter.acquire(1, limiter instanceof ConcurrencyLimiter ? { maxWaitMs: 1 + index * 0.37 } : {}),
        );
        if (clock instanceof FakeClock) clock.advance(1_000 * WAITING);
        else clock.advance(2 * WAITING);
        expect(limiter.getStatistics()!.currentQueuedCount).toBe(0);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await Promise.all(waiting);
      }
    },
  );
});
