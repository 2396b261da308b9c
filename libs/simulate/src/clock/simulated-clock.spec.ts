import * as fc from 'fast-check';
import { FakeClock } from '@ratelease/limiters/testing';
import { SimulatedClock } from './simulated-clock.js';

/** Runs everything up to a time and says at which times what ran. */
function fired(clock: SimulatedClock, untilMs: number, log: string[]): void {
  while (clock.runNext(untilMs));
  log.push(`now ${clock.now()}`);
}

describe('SimulatedClock', () => {
  it('runs what is due in the order of time, at its own time, like FakeClock', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 40 }), fc.nat(60), (delays, untilMs) => {
        const [simulated, fake] = [new SimulatedClock(), new FakeClock()];
        const logs: [string[], string[]] = [[], []];
        for (const [index, clock] of [simulated, fake].entries()) {
          for (const [number, delay] of delays.entries())
            clock.setTimer(() => logs[index]!.push(`${number} at ${clock.now()}`), delay);
        }
        while (simulated.runNext(untilMs));
        fake.advance(untilMs);
        expect(logs[0]).toEqual(logs[1]);
        expect(simulated.now()).toBe(fake.now());
      }),
    );
  });

  it('runs no timer that was cancelled', () => {
    const clock = new SimulatedClock();
    const log: string[] = [];
    const timer = clock.setTimer(() => log.push('cancelled'), 5);
    clock.setTimer(() => log.push('other'), 5);
    timer.cancel();
    fired(clock, 10, log);
    expect(log).toEqual(['other', 'now 10']);
  });

  it('lets a timer set another one on the way', () => {
    const clock = new SimulatedClock();
    const log: string[] = [];
    clock.setTimer(() => {
      log.push(`first ${clock.now()}`);
      clock.setTimer(() => log.push(`second ${clock.now()}`), 3);
    }, 4);
    fired(clock, 20, log);
    expect(log).toEqual(['first 4', 'second 7', 'now 20']);
  });

  it('never goes back', () => {
    const clock = new SimulatedClock();
    clock.runNext(10);
    clock.runNext(5);
    expect(clock.now()).toBe(10);
  });

  it('lets what nobody waits for take its time', () => {
    const clock = new SimulatedClock();
    const log: string[] = [];
    clock.setTimer(() => log.push('tidied'), 100, { background: true });
    fired(clock, 10_000, log);
    fired(clock, 60_000, log);
    expect(log).toEqual(['now 10000', 'tidied', 'now 60000']);
  });
});
