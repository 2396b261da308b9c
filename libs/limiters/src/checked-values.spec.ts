import { aboveLimit, requireDelay, requireDuration, requireInteger, requirePermitCount } from './checks.js';
import { ConcurrencyLimiter, isRateLimitError, refusedMember } from './index.js';

/** The message of what is thrown. */
function said(check: () => unknown): string {
  try {
    check();
  } catch (error) {
    expect(isRateLimitError(error)).toBe(true);
    return (error as Error).message;
  }
  throw new Error('Nothing was thrown.');
}

describe('an integer', () => {
  const within = (value: unknown, bounds: [number, number?]): number =>
    requireInteger('Owner', 'option', value, bounds);

  it('may lie at its bounds, and no further', () => {
    expect([within(1, [1, 3]), within(3, [1, 3])]).toEqual([1, 3]);
    expect(within(Number.MAX_SAFE_INTEGER, [1])).toBe(Number.MAX_SAFE_INTEGER);
    const bounds = 'Owner: option must be an integer from 1 to 3, but got ';
    expect(said(() => within(0, [1, 3]))).toBe(`${bounds}0.`);
    expect(said(() => within(4, [1, 3]))).toBe(`${bounds}4.`);
    expect(said(() => within('2', [1, 3]))).toBe(`${bounds}"2" (string). Pass a number.`);
  });

  it('is named to be at most 2^53 - 1 where it has no other bound', () => {
    expect(said(() => within(1.5, [1]))).toBe(
      'Owner: option must be an integer from 1 to 2^53 - 1, but got 1.5.',
    );
  });

  it('of zero has no sign', () => {
    expect([within(-0, [0]), requirePermitCount(-0)]).toEqual([0, 0]);
  });
});

describe('a time', () => {
  it('of a duration is finite and above 0', () => {
    expect(requireDuration('Owner', 'option', 0.5)).toBe(0.5);
    for (const value of [0, -1, Infinity, NaN])
      expect(said(() => requireDuration('Owner', 'option', value))).toBe(
        `Owner: option must be a finite number of milliseconds above 0, but got ${value}.`,
      );
  });

  it('of a delay may be 0, and infinite where that is allowed', () => {
    expect(requireDelay('Owner', 'option', 0, 'finite')).toBe(0);
    expect(requireDelay('Owner', 'option', Infinity, 'or Infinity')).toBe(Infinity);
    expect(said(() => requireDelay('Owner', 'option', Infinity, 'finite'))).toBe(
      'Owner: option must be a finite number of milliseconds of at least 0, but got Infinity.',
    );
    expect(said(() => requireDelay('Owner', 'option', -1, 'or Infinity'))).toBe(
      'Owner: option must be a number of milliseconds of at least 0, but got -1.',
    );
  });

  it('of a longest wait may be infinite', async () => {
    const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
    const held = limiter.attemptAcquire();
    const waiting = limiter.acquire(1, { maxWaitMs: Infinity });
    held.dispose();
    expect((await waiting).isAcquired).toBe(true);
  });
});

describe('a number of permits', () => {
  it('is told what is too little, what too much, and what is none', () => {
    const of = (value: unknown): string => said(() => requirePermitCount(value));
    expect(of(-1)).toBe('permitCount must be an integer of at least 0, but got -1.');
    expect(of(2 ** 53)).toBe('permitCount must be at most 2^53 - 1, but got 9007199254740992.');
    expect(of('1')).toBe(
      'permitCount must be an integer of at least 0, but got "1" (string). Pass a number, or nothing for 1.',
    );
  });

  it('above the limit says what to do, and whose limit it is', () => {
    const error = aboveLimit(3, 2, 4);
    expect(error.message).toBe(
      'permitCount must be at most the limit of 2, but got 3: this limiter could never grant it. ' +
        'Ask for fewer permits, or raise the limit.',
    );
    expect(refusedMember(error)).toBe(4);
  });
});
