import { FixedWindowRateLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';
import { fixedWindowRateLimiterKind as kind } from '../fixed-window/fixed-window-rate-limiter.js';

describe('limiters with the same options', () => {
  it('share their plan, until one differs', () => {
    const clock = new FakeClock();
    const plan = kind.plan({ permitLimit: 5, windowMs: 1_000, clock });
    expect(kind.plan({ permitLimit: 5, windowMs: 1_000, clock })).toBe(plan);
    expect(kind.plan({ permitLimit: 6, windowMs: 1_000, clock })).not.toBe(plan);
    expect(kind.plan({ permitLimit: 5, windowMs: 1_000, clock: new FakeClock() })).not.toBe(plan);
  });

  it('share no state, and no change of options', () => {
    const clock = new FakeClock();
    const options = { permitLimit: 5, windowMs: 1_000, clock };
    const [one, other] = [new FixedWindowRateLimiter(options), new FixedWindowRateLimiter(options)];
    one.attemptAcquire(5);
    one.updateOptions({ permitLimit: 7 });
    one.updateOptions({ windowMs: 2_000 });
    expect(other.attemptAcquire(2).quota()).toMatchObject([{ limit: 5, remaining: 3, windowMs: 1_000 }]);
    expect(one.attemptAcquire(2).quota()).toMatchObject([{ limit: 7, remaining: 0, windowMs: 2_000 }]);
  });

  it('keep theirs when the object that they were made from changes', () => {
    const clock = new FakeClock();
    const options = { permitLimit: 5, windowMs: 1_000, clock };
    const limiter = new FixedWindowRateLimiter(options);
    options.permitLimit = 50;
    limiter.updateOptions({ windowMs: 2_000 });
    expect(limiter.attemptAcquire(1).quota()).toMatchObject([{ limit: 5, windowMs: 2_000 }]);
    expect(new FixedWindowRateLimiter(options).attemptAcquire(1).quota()).toMatchObject([{ limit: 50 }]);
  });

  it('are checked each time that they are wrong', () => {
    const wrong = { permitLimit: 0, windowMs: 1_000 };
    expect(() => new FixedWindowRateLimiter(wrong)).toThrow(RangeError);
    expect(() => new FixedWindowRateLimiter(wrong)).toThrow(RangeError);
  });
});
