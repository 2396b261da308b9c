import { FixedWindowRateLimiter, MetadataName } from '../index.js';
import { FakeClock } from '../testing/index.js';

const DAY = 86_400_000;

function create(options: { permitLimit: number; windowMs: number; startMs?: number }): {
  clock: FakeClock;
  limiter: FixedWindowRateLimiter;
} {
  const clock = new FakeClock(options.startMs ?? 12_345);
  return { clock, limiter: new FixedWindowRateLimiter({ ...options, clock }) };
}

/** What happens at a time since the construction, and what comes of it: the permits granted, the wait named. */
type Row = [atMs: number, permits: number, granted: boolean, retryAfterMs?: number];

function play(
  { clock, limiter }: ReturnType<typeof create>,
  rows: readonly Row[],
): (readonly [boolean, number | undefined])[] {
  const start = clock.now();
  return rows.map(([atMs, permits]) => {
    clock.advance(start + atMs - clock.now());
    const lease = limiter.attemptAcquire(permits);
    return [lease.isAcquired, lease.getMetadata(MetadataName.retryAfter)] as const;
  });
}

describe('the fixed window', () => {
  const tables: Record<string, { permitLimit: number; windowMs: number; rows: Row[] }> = {
    'grants the limit in each window, anchored at the construction': {
      permitLimit: 2,
      windowMs: 1_000,
      rows: [
        [0, 1, true],
        [999, 1, true],
        [999.5, 1, false, 1],
        [1_000, 2, true],
        [1_250, 1, false, 750],
        [2_000, 2, true],
      ],
    },
    'moves no boundary when a call comes late': {
      permitLimit: 1,
      windowMs: 1_000,
      rows: [
        [0, 1, true],
        [1_700, 1, true],
        [1_999, 1, false, 1],
        [2_000, 1, true],
        [9_999, 1, true],
        [10_000, 1, true],
      ],
    },
    'does not add up windows that nobody used': {
      permitLimit: 3,
      windowMs: 10,
      rows: [
        [1_000_000, 3, true],
        [1_000_005, 1, false, 5],
      ],
    },
    'lets a request for no permits see whether one is free': {
      permitLimit: 1,
      windowMs: 100,
      rows: [
        [0, 0, true],
        [0, 1, true],
        [40, 0, false, 60],
        [100, 0, true],
        [100, 1, true],
      ],
    },
    'takes windows that are fractions of a millisecond': {
      permitLimit: 1,
      windowMs: 0.25,
      rows: [
        [0, 1, true],
        [0.2, 1, false, 1],
        [0.25, 1, true],
        [0.5, 1, true],
      ],
    },
    'goes by the nanosecond for a window of a third of a second': {
      permitLimit: 1,
      windowMs: 1_000 / 3,
      rows: [
        [0, 1, true],
        [333.333_332, 1, false, 1],
        [333.333_333, 1, true],
        [666.666_666, 1, true],
      ],
    },
    'keeps the greatest limit exact': {
      permitLimit: Number.MAX_SAFE_INTEGER,
      windowMs: 1_000,
      rows: [
        [0, 1, true],
        [0, Number.MAX_SAFE_INTEGER, false, 1_000],
        [0, Number.MAX_SAFE_INTEGER - 1, true],
        [0, 1, false, 1_000],
      ],
    },
    'waits longer than a native timer can: 40 days': {
      permitLimit: 1,
      windowMs: 40 * DAY,
      rows: [
        [0, 1, true],
        [1, 1, false, 40 * DAY - 1],
        [40 * DAY - 1, 1, false, 1],
        [40 * DAY, 1, true],
      ],
    },
    'waits longer than 2^53 nanoseconds: a year': {
      permitLimit: 1,
      windowMs: 365 * DAY,
      rows: [
        [0, 1, true],
        [1, 1, false, 365 * DAY - 1],
        [365 * DAY - 1, 1, false, 1],
        [365 * DAY, 1, true],
        [365 * DAY + 1, 1, false, 365 * DAY - 1],
      ],
    },
  };

  it.each(Object.entries(tables))('%s', (_behaviour, { permitLimit, windowMs, rows }) => {
    const expected = rows.map(([, , granted, retryAfterMs]) => [granted, retryAfterMs]);
    expect(play(create({ permitLimit, windowMs }), rows)).toEqual(expected);
  });

  it('credits nothing twice when the clock steps back, and counts the wait from the actual reading', () => {
    const { clock, limiter } = create({ permitLimit: 1, windowMs: 1_000 });
    clock.advance(1_500);
    expect(limiter.attemptAcquire().isAcquired).toBe(true);
    clock.advance(-700);
    const refused = limiter.attemptAcquire();
    expect(refused.isAcquired).toBe(false);
    expect(refused.getMetadata(MetadataName.retryAfter)).toBe(1_200);
    clock.advance(1_200);
    expect(limiter.attemptAcquire().isAcquired).toBe(true);
    clock.advance(-1_000_000);
    expect(limiter.attemptAcquire().isAcquired).toBe(false);
  });

  it('replenished by hand gives nothing back before its next boundary', () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({
      permitLimit: 1,
      windowMs: 1_000,
      autoReplenishment: false,
      clock,
    });
    for (let window = 0; window < 3; window++) {
      expect(limiter.attemptAcquire().isAcquired).toBe(true);
      clock.advance(999);
      expect([limiter.tryReplenish(), limiter.attemptAcquire().isAcquired]).toEqual([false, false]);
      clock.advance(1);
      expect(limiter.tryReplenish()).toBe(true);
    }
  });

  it('goes on alike on a clock whose readings are large', () => {
    const { clock, limiter } = create({ permitLimit: 1, windowMs: 1_000, startMs: 1_700_000_000_000 });
    limiter.attemptAcquire();
    clock.advance(999);
    expect(limiter.attemptAcquire().isAcquired).toBe(false);
    clock.advance(1);
    expect(limiter.attemptAcquire().isAcquired).toBe(true);
  });

  it('keeps its boundaries over 10,000 windows that were each looked at late', () => {
    const { clock, limiter } = create({ permitLimit: 1, windowMs: 100 });
    for (let window = 0; window < 10_000; window++) {
      clock.advance(window % 2 === 0 ? 105 : 95);
      limiter.attemptAcquire();
    }
    const waitMs = limiter.attemptAcquire().getMetadata(MetadataName.retryAfter)!;
    expect((clock.now() - 12_345 + waitMs) % 100).toBe(0);
  });

  it('waits for the exact boundary with a timer beyond 2^31 ms', async () => {
    const clock = new FakeClock();
    const limiter = new FixedWindowRateLimiter({ permitLimit: 1, windowMs: 40 * DAY, queueLimit: 1, clock });
    limiter.attemptAcquire();
    let grantedAt = 0;
    const waiting = limiter.acquire().then(() => (grantedAt = clock.now()));
    clock.advance(40 * DAY - 1);
    await Promise.resolve();
    expect(grantedAt).toBe(0);
    clock.advance(1);
    await waiting;
    expect(grantedAt).toBe(40 * DAY);
  });
});
