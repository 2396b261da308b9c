import type { TimerOptions } from '../../clock.js';
import { FakeClock } from '../../testing/index.js';
import type { KeptLimiter } from './kept-limiter.js';
import { ReplenishmentBeat } from './replenishment-beat.js';
import { reporter } from './table-options.js';

/** What a beat sees of a limiter. */
class Kept {
  replenished = 0;
  waiters = 0;
  error: Error | null = null;
  readonly key: string;
  readonly manual: { tryReplenish(): boolean } | null;

  constructor(key: string, isManual = true) {
    this.key = key;
    const tryReplenish = (): boolean => {
      this.replenished++;
      if (this.error !== null) throw this.error;
      return true;
    };
    this.manual = isManual ? { tryReplenish } : null;
  }

  get hasWaiters(): boolean {
    if (this.waiters < 0) throw new Error('who knows?');
    return this.waiters > 0;
  }

  get asKept(): KeptLimiter {
    return this as unknown as KeptLimiter;
  }
}

class Trial {
  readonly clock = new FakeClock();
  readonly errors: [message: string, key: unknown][] = [];
  /** Of each timer that was set, whether it was one in the background. */
  readonly timers: (boolean | undefined)[] = [];
  readonly beat = new ReplenishmentBeat(this.clock, (error, key) =>
    this.errors.push([(error as Error).message, key]),
  );

  constructor() {
    const setTimer = this.clock.setTimer.bind(this.clock);
    this.clock.setTimer = (callback: () => void, delayMs: number, options?: TimerOptions) => {
      expect(delayMs).toBe(100);
      this.timers.push(options?.background);
      return setTimer(callback, delayMs);
    };
  }
}

describe('the beat that replenishes limiters for those who wait in them', () => {
  it('goes on every 100 ms while somebody waits, and then ends', () => {
    const { beat, clock, timers } = new Trial();
    const kept = new Kept('a');
    kept.waiters = 1;
    beat.keep(kept.asKept);
    clock.advance(99);
    expect(kept.replenished).toBe(0);
    clock.advance(151);
    expect(kept.replenished).toBe(2);
    kept.waiters = 0;
    clock.advance(1_000);
    expect([kept.replenished, clock.pendingTimers]).toEqual([3, 0]);
    expect(timers).toEqual([false, false, false]);
  });

  it('doesn’t begin where nobody waits', () => {
    const { beat, clock } = new Trial();
    beat.keep(new Kept('a').asKept);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is one for all, and lets each go on its own', () => {
    const { beat, clock } = new Trial();
    const [one, other] = [new Kept('a'), new Kept('b')];
    for (const kept of [one, other]) {
      kept.waiters = 1;
      beat.keep(kept.asKept);
    }
    expect(clock.pendingTimers).toBe(1);
    clock.advance(100);
    one.waiters = 0;
    clock.advance(200);
    expect([one.replenished, other.replenished]).toEqual([2, 3]);
  });

  it('looks once in the background where somebody may come to wait', () => {
    const { beat, clock, timers } = new Trial();
    const kept = new Kept('a');
    beat.watch(kept.asKept);
    beat.watch(kept.asKept);
    clock.advance(1_000);
    expect([kept.replenished, clock.pendingTimers]).toEqual([1, 0]);
    expect(timers).toEqual([true]);
  });

  it('goes on for whoever has come by then, and keeps the process alive', () => {
    const { beat, clock, timers } = new Trial();
    const kept = new Kept('a');
    beat.watch(kept.asKept);
    clock.advance(50);
    kept.waiters = 1;
    clock.advance(150);
    expect([kept.replenished, clock.pendingTimers]).toEqual([2, 1]);
    expect(timers).toEqual([true, false, false]);
  });

  it('keeps the process alive as soon as it knows of somebody who waits', () => {
    const { beat, clock, timers } = new Trial();
    const [watched, kept] = [new Kept('a'), new Kept('b')];
    beat.watch(watched.asKept);
    kept.waiters = 1;
    beat.keep(kept.asKept);
    beat.watch(watched.asKept);
    beat.keep(kept.asKept);
    expect([clock.pendingTimers, timers]).toEqual([1, [true, false]]);
  });

  it('doesn’t look at limiters that replenish by themselves', () => {
    const { beat, clock } = new Trial();
    beat.watch(new Kept('a', false).asKept);
    expect(clock.pendingTimers).toBe(0);
    expect(() => beat.replenish(new Kept('a', false).asKept)).not.toThrow();
  });

  it('ends with the last that is forgotten', () => {
    const { beat, clock } = new Trial();
    const [one, other, stranger] = [new Kept('a'), new Kept('b'), new Kept('c')];
    for (const kept of [one, other]) {
      kept.waiters = 1;
      beat.keep(kept.asKept);
    }
    beat.forget(one.asKept);
    beat.forget(stranger.asKept);
    clock.advance(100);
    expect([one.replenished, other.replenished, clock.pendingTimers]).toEqual([0, 1, 1]);
    beat.forget(other.asKept);
    expect(clock.pendingTimers).toBe(0);
    beat.keep(other.asKept);
    clock.advance(100);
    expect(other.replenished).toBe(2);
  });

  it('is stopped with its keeper', () => {
    const { beat, clock } = new Trial();
    const kept = new Kept('a');
    kept.waiters = 1;
    beat.keep(kept.asKept);
    beat.stop();
    expect(clock.pendingTimers).toBe(0);
    expect(() => beat.stop()).not.toThrow();
  });

  it('reports what fails with its key, and goes on', () => {
    const { beat, clock, errors } = new Trial();
    const [failing, other] = [new Kept('a'), new Kept('b')];
    failing.error = new Error('broken');
    for (const kept of [failing, other]) {
      kept.waiters = 1;
      beat.keep(kept.asKept);
    }
    clock.advance(200);
    expect(errors).toEqual([
      ['broken', 'a'],
      ['broken', 'a'],
    ]);
    expect(other.replenished).toBe(2);
    failing.error = null;
    failing.waiters = -1;
    clock.advance(100);
    expect(errors.slice(2)).toEqual([['who knows?', 'a']]);
    clock.advance(100);
    expect([failing.replenished, other.replenished]).toEqual([3, 4]);
  });

  it('needs nobody to report to', () => {
    const clock = new FakeClock();
    const beat = new ReplenishmentBeat(clock, undefined);
    const kept = new Kept('a');
    kept.error = new Error('broken');
    expect(() => beat.replenish(kept.asKept)).not.toThrow();
    kept.waiters = -1;
    expect(() => beat.keep(kept.asKept)).not.toThrow();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(['to replenish', 'to say whether somebody waits'])(
    'goes on for the others where one fails %s and nobody takes the error',
    (question) => {
      const clock = new FakeClock();
      const inVain = (error: unknown): never => {
        throw error;
      };
      const beat = new ReplenishmentBeat(clock, reporter(inVain, clock));
      const [failing, other] = [new Kept('a'), new Kept('b')];
      for (const kept of [failing, other]) {
        kept.waiters = 1;
        beat.keep(kept.asKept);
      }
      failing.waiters = question === 'to replenish' ? 1 : -1;
      failing.error = question === 'to replenish' ? new Error('no') : null;
      for (let beats = 1; beats <= 3; beats++) {
        if (beats === 1 || question === 'to replenish')
          expect(() => clock.advance(100)).toThrow(/^(no|who knows\?)$/);
        else clock.advance(100);
        expect(other.replenished).toBe(beats);
      }
      failing.waiters = other.waiters = 0;
      if (question === 'to replenish') expect(() => clock.advance(100)).toThrow('no');
      else clock.advance(100);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('keeps its timer where the clock can’t set one that keeps the process alive', () => {
    const { beat, clock } = new Trial();
    const [one, other] = [new Kept('a'), new Kept('b')];
    beat.watch(one.asKept);
    one.waiters = other.waiters = 1;
    const { setTimer } = clock;
    clock.setTimer = () => {
      throw new Error('The clock fails.');
    };
    expect(() => beat.keep(other.asKept)).toThrow('The clock fails.');
    clock.setTimer = setTimer;
    clock.advance(200);
    expect([one.replenished, other.replenished]).toEqual([2, 2]);
  });
});
