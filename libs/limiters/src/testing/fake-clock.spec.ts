import { FakeClock } from './index.js';

describe('FakeClock', () => {
  it('stands still until it is advanced', () => {
    const clock = new FakeClock(5);
    expect(clock.now()).toBe(5);
    clock.advance(1.5);
    expect(clock.now()).toBe(6.5);
  });

  it('adds many small steps up to what one large step is', () => {
    const clock = new FakeClock();
    for (let step = 0; step < 10; step++) clock.advance(0.1);
    expect(clock.now()).toBe(1);
  });

  it('runs what is due in order, each at its own time', () => {
    const clock = new FakeClock();
    const ran: [string, number][] = [];
    clock.setTimer(() => ran.push(['later', clock.now()]), 20);
    clock.setTimer(() => ran.push(['sooner', clock.now()]), 10);
    clock.setTimer(() => ran.push(['as soon, set later', clock.now()]), 10);
    clock.setTimer(() => ran.push(['not yet', clock.now()]), 31);
    clock.advance(30);
    expect(ran).toEqual([
      ['sooner', 10],
      ['as soon, set later', 10],
      ['later', 20],
    ]);
    expect(clock.now()).toBe(30);
    expect(clock.pendingTimers).toBe(1);
  });

  it('runs timers that are set by timers, if they are due', () => {
    const clock = new FakeClock();
    const ran: number[] = [];
    const again = (): void => {
      ran.push(clock.now());
      if (ran.length < 3) clock.setTimer(again, 10);
    };
    clock.setTimer(again, 10);
    clock.advance(25);
    expect(ran).toEqual([10, 20]);
  });

  it('forgets a cancelled timer, and cancels one that has fired without harm', () => {
    const clock = new FakeClock();
    const ran: string[] = [];
    const timer = clock.setTimer(() => ran.push('cancelled'), 10);
    const fired = clock.setTimer(() => ran.push('fired'), 10);
    timer.cancel();
    clock.advance(10);
    fired.cancel();
    expect(ran).toEqual(['fired']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('steps back without running anything', () => {
    const clock = new FakeClock(100);
    const ran: number[] = [];
    clock.setTimer(() => ran.push(clock.now()), 0);
    clock.advance(-40);
    expect(clock.now()).toBe(60);
    expect(ran).toEqual([]);
    clock.advance(40);
    expect(ran).toEqual([100]);
  });

  it('skips time as a blocked event loop does, and runs what was due at the next advance', () => {
    const clock = new FakeClock();
    const ran: number[] = [];
    clock.setTimer(() => ran.push(clock.now()), 10);
    clock.skip(25);
    expect(ran).toEqual([]);
    clock.advance(0);
    expect(ran).toEqual([25]);
  });

  it('stops a timer that sets itself at one instant without end', () => {
    const clock = new FakeClock();
    const again = (): void => void clock.setTimer(again, 0);
    again();
    expect(() => clock.advance(1)).toThrow('without end');
  });

  it('waits beyond 2^31 ms', () => {
    const clock = new FakeClock();
    const ran: number[] = [];
    clock.setTimer(() => ran.push(clock.now()), 2 ** 33);
    clock.advance(2 ** 33 - 1);
    expect(ran).toEqual([]);
    clock.advance(1);
    expect(ran).toEqual([2 ** 33]);
  });
});
