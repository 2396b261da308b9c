import type { Clock } from '../index.js';
import { FakeClock } from '../testing/index.js';
import { OnlyTimer } from './only-timer.js';

/** A clock that runs code of others in the midst of what it is asked for. */
function meddling() {
  const fake = new FakeClock();
  const meanwhile = { set: (): void => undefined, cancel: (): void => undefined };
  const clock: Clock = {
    now: () => fake.now(),
    setTimer: (callback, delayMs) => {
      meanwhile.set();
      const timer = fake.setTimer(callback, delayMs);
      return {
        cancel: () => {
          timer.cancel();
          meanwhile.cancel();
        },
      };
    },
  };
  return { fake, clock, meanwhile };
}

const never = (): void => undefined;

describe('the one timer of an owner', () => {
  it('is set where nobody has meddled, also in the place of another', () => {
    const { fake, clock } = meddling();
    const timer = new OnlyTimer();
    expect([timer.set(clock, never, 10), timer.set(clock, never, 20)]).toEqual([true, true]);
    expect(fake.pendingTimers).toBe(1);
  });

  it.each(['set', 'cancel'] as const)(
    'isn’t, and says so, where it was taken back in the midst of a %s',
    (when) => {
      const { fake, clock, meanwhile } = meddling();
      const timer = new OnlyTimer();
      timer.set(clock, never, 10);
      meanwhile[when] = () => {
        meanwhile[when] = never;
        timer.cancel();
      };
      expect(timer.set(clock, never, 20)).toBe(false);
      expect(fake.pendingTimers).toBe(0);
    },
  );
});
