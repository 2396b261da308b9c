import * as fc from 'fast-check';
import { SlidingWindowRateLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';

const LIMIT = 1_000;

interface Numbers {
  readonly windowMs: number;
  readonly segmentsPerWindow: number;
}

const anyNumbers: fc.Arbitrary<Numbers> = fc.record({
  windowMs: fc.integer({ min: 1, max: 60 }),
  segmentsPerWindow: fc.integer({ min: 1, max: 6 }),
});

/** Requests, each so many milliseconds after the one before. */
const anyRequests = fc.array(
  fc.record({ afterMs: fc.integer({ min: 0, max: 15 }), permits: fc.integer({ min: 1, max: 5 }) }),
  { minLength: 1, maxLength: 12 },
);

/** A part of a window as a fraction, so that nothing is rounded. */
function segmentAt(ms: number, { windowMs, segmentsPerWindow }: Numbers): number {
  return Math.floor((ms * segmentsPerWindow) / windowMs);
}

/**
 * When what was granted comes back after the numbers changed. It counts as granted at the end of its old segment, or
 * now if that is earlier; the new segments begin where the old window did.
 */
function comesBackAt(
  grantedAt: number,
  changedAt: number,
  [before, after]: readonly [Numbers, Numbers],
): number {
  const begin = Math.floor(changedAt / before.windowMs) * before.windowMs;
  const end = ((segmentAt(grantedAt, before) + 1) * before.windowMs) / before.segmentsPerWindow;
  // Just before the end.
  const home = Math.ceil(((end - begin) * after.segmentsPerWindow) / after.windowMs - 1e-9) - 1;
  const current = segmentAt(changedAt - begin, after);
  const segment = Math.min(home, current) + after.segmentsPerWindow;
  return begin + (segment * after.windowMs) / after.segmentsPerWindow;
}

describe('a sliding window whose numbers change', () => {
  it('gives back each permit when the new window has passed over the segment that it was granted in', () => {
    fc.assert(
      fc.property(
        anyNumbers,
        anyNumbers,
        anyRequests,
        fc.nat({ max: 40 }),
        (before, after, requests, waitMs) => {
          const clock = new FakeClock();
          const limiter = new SlidingWindowRateLimiter({ permitLimit: LIMIT, ...before, clock });
          const grants: { atMs: number; permits: number }[] = [];
          for (const { afterMs, permits } of requests) {
            clock.advance(afterMs);
            limiter.attemptAcquire(permits);
            grants.push({ atMs: clock.now(), permits });
          }
          clock.advance(waitMs);
          const changedAt = clock.now();
          const isSame =
            before.windowMs === after.windowMs && before.segmentsPerWindow === after.segmentsPerWindow;
          const spent = grants.filter(
            ({ atMs }) => segmentAt(atMs, before) + before.segmentsPerWindow > segmentAt(changedAt, before),
          );
          fc.pre(spent.length > 0 && !isSame);
          limiter.updateOptions(after);
          for (let probe = 0; probe <= 2 * after.windowMs + before.windowMs; probe++) {
            const now = clock.now();
            const gone = spent
              .filter(({ atMs }) => comesBackAt(atMs, changedAt, [before, after]) > now + 1e-9)
              .reduce((sum, { permits }) => sum + permits, 0);
            expect(limiter.getStatistics().currentAvailablePermits).toBe(LIMIT - gone);
            clock.advance(1);
          }
          expect(limiter.attemptAcquire(LIMIT).isAcquired).toBe(true);
        },
      ),
      { numRuns: 80 },
    );
  });

  it.each([
    ['more', 10, 20],
    ['less', 10, 5],
  ])('keeps its length with %s segments', (_how, before, after) => {
    const clock = new FakeClock();
    const limiter = new SlidingWindowRateLimiter({
      permitLimit: 3,
      windowMs: 100,
      segmentsPerWindow: before,
      clock,
    });
    clock.advance(12);
    limiter.attemptAcquire(3);
    clock.advance(20);
    limiter.updateOptions({ segmentsPerWindow: after });
    expect(limiter.replenishmentPeriodMs).toBe(100 / after);
    // Spent until 20: in the segment from 15 or from 0.
    const backAt = after > before ? 115 : 100;
    clock.advance(backAt - 32 - 1);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(0);
    clock.advance(1);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(3);
  });

  it('goes on as it was where they are the same', () => {
    const clock = new FakeClock();
    const numbers = { windowMs: 100, segmentsPerWindow: 10 };
    const limiter = new SlidingWindowRateLimiter({ permitLimit: 3, ...numbers, clock });
    clock.advance(15);
    limiter.attemptAcquire(3);
    clock.advance(70);
    limiter.updateOptions({ ...numbers, permitLimit: 4 });
    expect(limiter.attemptAcquire(2).quota()).toMatchObject([{ remaining: 1, resetAfterMs: 25 }]);
    clock.advance(25);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(4);
  });

  it.each([
    ['the limit', { permitLimit: 6 }, 1],
    ['a shorter window', { windowMs: 500 }, 0],
    ['a longer window', { windowMs: 4_000 }, 0],
    ['more segments', { segmentsPerWindow: 20 }, 0],
    ['less segments', { segmentsPerWindow: 2 }, 0],
  ])('gives nothing back by itself where it is replenished by hand: %s', (_what, changes, available) => {
    const clock = new FakeClock();
    const limiter = new SlidingWindowRateLimiter({
      permitLimit: 5,
      windowMs: 1_000,
      segmentsPerWindow: 10,
      autoReplenishment: false,
      clock,
    });
    limiter.attemptAcquire(5);
    clock.advance(60_000);
    limiter.updateOptions(changes);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(available);
    expect(limiter.tryReplenish()).toBe(true);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(available + 5);
    expect(limiter.idleDurationMs).toBe(0);
  });

  it('begins by hand with the new segment in which the segment applied last ended, or with the present one', () => {
    for (const [changedAtMs, backAtMs] of [
      [60, 1_050],
      [100, 1_050],
    ] as const) {
      const clock = new FakeClock();
      const numbers = { permitLimit: 5, windowMs: 1_000, autoReplenishment: false, clock };
      const limiter = new SlidingWindowRateLimiter({ ...numbers, segmentsPerWindow: 10 });
      limiter.attemptAcquire(5);
      clock.advance(changedAtMs);
      limiter.updateOptions({ segmentsPerWindow: 20 });
      // It is in the new segment from 50 to 100, whether that is over or not.
      expect(limiter.tryReplenish()).toBe(changedAtMs === 100);
      clock.advance(backAtMs - changedAtMs - 1);
      limiter.tryReplenish();
      expect(limiter.getStatistics().currentAvailablePermits).toBe(0);
      clock.advance(1);
      expect(limiter.tryReplenish()).toBe(true);
      expect(limiter.getStatistics().currentAvailablePermits).toBe(5);
    }
  });

  it('has been idle for as long as before when only its limit changes', () => {
    const clock = new FakeClock();
    const limiter = new SlidingWindowRateLimiter({
      permitLimit: 5,
      windowMs: 1_000,
      segmentsPerWindow: 10,
      clock,
    });
    limiter.attemptAcquire(5);
    clock.advance(3_210);
    limiter.updateOptions({ permitLimit: 6 });
    expect(limiter.idleDurationMs).toBe(2_210);
  });
});
