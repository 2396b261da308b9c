import { MetadataName, SlidingWindowRateLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';

const DAY = 86_400_000;

/** At a time since the construction a request, whether it is granted, and the wait that a refusal names. */
type Row = [atMs: number, permits: number, granted: boolean, retryAfterMs?: number];

interface Table {
  permitLimit: number;
  windowMs: number;
  segmentsPerWindow: number;
  rows: Row[];
}

function play({ rows, ...options }: Table): (readonly [boolean, number | undefined])[] {
  const clock = new FakeClock(12_345);
  const limiter = new SlidingWindowRateLimiter({ ...options, clock });
  return rows.map(([atMs, permits]) => {
    clock.advance(12_345 + atMs - clock.now());
    const lease = limiter.attemptAcquire(permits);
    return [lease.isAcquired, lease.getMetadata(MetadataName.retryAfter)] as const;
  });
}

describe('the sliding window', () => {
  const tables: Record<string, Table> = {
    'gets back what a segment granted as many boundaries later as there are segments': {
      permitLimit: 3,
      windowMs: 300,
      segmentsPerWindow: 3,
      rows: [
        [0, 1, true],
        [150, 1, true],
        [250, 1, true],
        [299, 1, false, 1],
        [300, 1, true],
        [399, 1, false, 1],
        [400, 1, true],
        [400, 2, false, 200],
      ],
    },
    'applies all segments that passed at once, however long ago they began': {
      permitLimit: 2,
      windowMs: 100,
      segmentsPerWindow: 10,
      rows: [
        [0, 2, true],
        [1_000_000, 2, true],
        [1_000_099, 1, false, 1],
        [1_000_100, 2, true],
      ],
    },
    'names the time at which enough segments have come back': {
      permitLimit: 4,
      windowMs: 400,
      segmentsPerWindow: 4,
      rows: [
        [0, 1, true],
        [100, 2, true],
        [200, 1, true],
        [210, 1, false, 190],
        [210, 2, false, 290],
        [210, 4, false, 390],
        [210, 0, false, 190],
      ],
    },
    'is a fixed window with one segment': {
      permitLimit: 2,
      windowMs: 100,
      segmentsPerWindow: 1,
      rows: [
        [90, 2, true],
        [99, 1, false, 1],
        [100, 2, true],
      ],
    },
    'keeps boundaries that are fractions of a millisecond: a tenth of a second in three': {
      permitLimit: 1,
      windowMs: 100,
      segmentsPerWindow: 3,
      rows: [
        [34, 1, true],
        [133.333_333, 1, false, 1],
        [133.333_334, 1, true],
        [233.333, 1, false, 1],
        [233.333_334, 1, true],
      ],
    },
    'grants at most the limit at the edge of a window': {
      permitLimit: 100,
      windowMs: 1_000,
      segmentsPerWindow: 10,
      rows: [
        [999, 100, true],
        [1_000, 1, false, 900],
        [1_899, 1, false, 1],
        [1_900, 100, true],
      ],
    },
    'keeps the greatest limit exact': {
      permitLimit: Number.MAX_SAFE_INTEGER,
      windowMs: 100,
      segmentsPerWindow: 10,
      rows: [
        [0, Number.MAX_SAFE_INTEGER - 1, true],
        [10, 1, true],
        [10, 1, false, 90],
        [100, Number.MAX_SAFE_INTEGER, false, 10],
        [100, Number.MAX_SAFE_INTEGER - 1, true],
      ],
    },
    'waits longer than a native timer can: 40 days': {
      permitLimit: 1,
      windowMs: 40 * DAY,
      segmentsPerWindow: 40,
      rows: [
        [DAY / 2, 1, true],
        [DAY, 1, false, 39 * DAY],
        [40 * DAY - 1, 1, false, 1],
        [40 * DAY, 1, true],
      ],
    },
    'waits longer than 2^53 nanoseconds: a year in months': {
      permitLimit: 1,
      windowMs: 365 * DAY,
      segmentsPerWindow: 12,
      rows: [
        [0, 1, true],
        [365 * DAY - 1, 1, false, 1],
        [365 * DAY, 1, true],
        [730 * DAY - 1, 1, false, 1],
        [730 * DAY, 1, true],
      ],
    },
  };

  it.each(Object.entries(tables))('%s', (_behaviour, table) => {
    const expected = table.rows.map(([, , granted, retryAfterMs]) => [granted, retryAfterMs]);
    expect(play(table)).toEqual(expected);
  });

  it('credits nothing twice when the clock steps back', () => {
    const clock = new FakeClock(12_345);
    const options = { permitLimit: 2, windowMs: 100, segmentsPerWindow: 10, clock };
    const limiter = new SlidingWindowRateLimiter(options);
    limiter.attemptAcquire(1);
    clock.advance(95);
    limiter.attemptAcquire(1);
    clock.advance(-50);
    expect(limiter.attemptAcquire(1).getMetadata(MetadataName.retryAfter)).toBe(55);
    clock.advance(55);
    expect(limiter.attemptAcquire(1).isAcquired).toBe(true);
    clock.advance(-100);
    expect(limiter.attemptAcquire(1).isAcquired).toBe(false);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(0);
  });

  it('books what a waiter gets in the segment of the grant, not of the request', async () => {
    const clock = new FakeClock();
    const limiter = new SlidingWindowRateLimiter({
      permitLimit: 1,
      windowMs: 100,
      segmentsPerWindow: 10,
      queueLimit: 5,
      clock,
    });
    limiter.attemptAcquire(1);
    clock.advance(35);
    const waiting = limiter.acquire(1);
    clock.advance(65);
    expect((await waiting).isAcquired).toBe(true);
    clock.advance(99);
    expect(limiter.attemptAcquire(1).isAcquired).toBe(false);
    clock.advance(1);
    expect(limiter.attemptAcquire(1).isAcquired).toBe(true);
  });

  it('tells when all is back, wherever the window has moved to', () => {
    const clock = new FakeClock();
    const options = { permitLimit: 5, windowMs: 300, segmentsPerWindow: 3, clock };
    const limiter = new SlidingWindowRateLimiter(options);
    clock.advance(230);
    limiter.attemptAcquire(2);
    const resets: (number | undefined)[] = [];
    for (let step = 0; step < 3; step++) {
      clock.advance(80);
      resets.push(limiter.attemptAcquire(0).quota()[0]!.resetAfterMs);
    }
    // Of the segment from 200 to 300, at 310, 390 and 470.
    expect(resets).toEqual([190, 110, 30]);
  });

  it('tells when all is back where segments lie between that granted nothing, around the end of the ring', () => {
    const clock = new FakeClock();
    const options = { permitLimit: 5, windowMs: 400, segmentsPerWindow: 4, clock };
    const limiter = new SlidingWindowRateLimiter(options);
    clock.advance(210);
    limiter.attemptAcquire(2);
    clock.advance(200);
    expect(limiter.attemptAcquire(0).quota()).toMatchObject([{ remaining: 3, resetAfterMs: 190 }]);
  });

  it('plays a queue forward: what waiters take at one boundary comes back together', () => {
    const clock = new FakeClock();
    const limiter = new SlidingWindowRateLimiter({
      permitLimit: 4,
      windowMs: 200,
      segmentsPerWindow: 2,
      queueLimit: 20,
      clock,
    });
    limiter.attemptAcquire(4);
    for (let waiter = 0; waiter < 4; waiter++) void limiter.acquire(1);
    void limiter.acquire(3);
    const retryAfterMs = (permits: number): unknown =>
      limiter.attemptAcquire(permits).getMetadata(MetadataName.retryAfter);
    // The four are served at 200, the next at 400, and who wants two more than that at 600.
    expect([retryAfterMs(1), retryAfterMs(2), retryAfterMs(4)]).toEqual([400, 600, 600]);
    limiter.dispose();
  });

  it('replenished by hand books in the segment applied last, whatever the time', () => {
    const clock = new FakeClock();
    const options = { permitLimit: 2, windowMs: 1_000, segmentsPerWindow: 10, autoReplenishment: false };
    const limiter = new SlidingWindowRateLimiter({ ...options, clock });
    clock.advance(150);
    limiter.attemptAcquire(1);
    clock.advance(100);
    limiter.attemptAcquire(1);
    clock.advance(750);
    expect(limiter.tryReplenish()).toBe(true);
    expect(limiter.getStatistics().currentAvailablePermits).toBe(2);
  });

  it('takes a great number of segments, up to a stated one', () => {
    const options = { permitLimit: 1, windowMs: 1_000 };
    expect(() => new SlidingWindowRateLimiter({ ...options, segmentsPerWindow: 100_000 })).not.toThrow();
    expect(() => new SlidingWindowRateLimiter({ ...options, segmentsPerWindow: 2 ** 40 })).toThrow(
      /segmentsPerWindow must be an integer from 1 to 1000000, but got 1099511627776/,
    );
  });
});
