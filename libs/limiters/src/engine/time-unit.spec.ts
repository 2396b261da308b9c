import { FakeClock } from '../testing/index.js';
import { originOf, readNanoseconds, toMilliseconds, toNanoseconds, toRetryAfterMs } from './time-unit.js';

describe('the unit of time inside', () => {
  it.each([
    [1, 1_000_000],
    [0.1, 100_000],
    [1 / 3, 333_333],
    [0.000_000_4, 1],
    [Number.MIN_VALUE, 1],
    [86_400_000 * 365, 86_400_000 * 365 * 1e6],
  ])('takes a duration of %d ms as %d ns', (milliseconds, nanoseconds) => {
    expect(toNanoseconds(milliseconds)).toBe(nanoseconds);
  });

  it('keeps a duration finite whatever the option was', () => {
    expect(toNanoseconds(Number.MAX_VALUE)).toBe(Number.MAX_VALUE);
  });

  it('shows nanoseconds as milliseconds, fractions included', () => {
    expect(toMilliseconds(1_500_000)).toBe(1.5);
  });

  it.each([
    [-5, 1],
    [0, 1],
    [1, 1],
    [1_000_000, 1],
    [1_000_001, 2],
    [2_147_483_648 * 1e6, 2_147_483_648],
  ])('rounds a wait of %d ns up to %d ms, at least 1', (nanoseconds, milliseconds) => {
    expect(toRetryAfterMs(nanoseconds)).toBe(milliseconds);
  });

  it('reads the clock to the nearest nanosecond, however far from its origin', () => {
    const clock = new FakeClock(1_700_000_000_000);
    const origin = originOf(clock);
    clock.advance(0.25);
    expect(readNanoseconds(clock, origin)).toBe(250_000);
    clock.advance(-1);
    expect(readNanoseconds(clock, origin)).toBe(-750_000);
  });

  it('takes a whole number of milliseconds as the origin, so that subtracting it loses nothing', () => {
    const clock = new FakeClock(12.75);
    expect(originOf(clock)).toBe(12);
    expect(readNanoseconds(clock, 12)).toBe(750_000);
  });
});
