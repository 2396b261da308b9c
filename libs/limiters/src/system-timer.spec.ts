import { systemClock } from './index.js';

interface NativeTimer {
  readonly fire: () => void;
  readonly delayMs: number;
  isUnreferenced: boolean;
  isCleared: boolean;
}

const { setTimeout, clearTimeout } = globalThis;

/** The timers of the platform, fired by hand, and its clock. */
class Platform {
  nowMs = 1_000;
  readonly timers: NativeTimer[] = [];

  constructor() {
    globalThis.setTimeout = ((fire: () => void, delayMs: number) => {
      const timer: NativeTimer = { fire, delayMs, isUnreferenced: false, isCleared: false };
      this.timers.push(timer);
      return Object.assign(timer, { unref: () => (timer.isUnreferenced = true) });
    }) as never;
    globalThis.clearTimeout = ((timer?: NativeTimer) => {
      if (timer !== undefined) timer.isCleared = true;
    }) as never;
    jest.spyOn(performance, 'now').mockImplementation(() => this.nowMs);
  }

  get delays(): number[] {
    return this.timers.map(({ delayMs }) => delayMs);
  }

  /** The last timer fires after so many milliseconds. */
  fire(afterMs: number): void {
    this.nowMs += afterMs;
    this.timers.at(-1)!.fire();
  }
}

describe('a timer of the system’s clock', () => {
  let platform: Platform;
  let fired: number;
  const callback = (): void => void fired++;
  beforeEach(() => {
    fired = 0;
    platform = new Platform();
  });
  afterEach(() => {
    Object.assign(globalThis, { setTimeout, clearTimeout });
    jest.restoreAllMocks();
  });

  it('fires after whole milliseconds, never too early, and at once where that has passed', () => {
    systemClock.setTimer(callback, 1.2);
    systemClock.setTimer(callback, 7);
    systemClock.setTimer(callback, -5);
    expect(platform.delays).toEqual([2, 7, 0]);
  });

  it('is no millisecond longer for a hair, by which sums of readings miss', () => {
    for (const delayMs of [500.0000001, 499.9999999, 500.000001]) systemClock.setTimer(callback, delayMs);
    expect(platform.delays).toEqual([500, 500, 501]);
  });

  it('waits on when the platform comes early by more than a millisecond', () => {
    systemClock.setTimer(callback, 10);
    platform.fire(5);
    expect([fired, ...platform.delays]).toEqual([0, 10, 5]);
    platform.fire(4);
    expect([fired, ...platform.delays]).toEqual([1, 10, 5]);
  });

  it('is a chain of timers where the platform has none so long', () => {
    systemClock.setTimer(callback, 2 ** 31 + 100);
    expect(platform.delays).toEqual([2_147_483_647]);
    platform.fire(2_147_483_647);
    expect([fired, ...platform.delays]).toEqual([0, 2_147_483_647, 101]);
    platform.fire(101);
    expect(fired).toBe(1);
  });

  it('keeps the process alive unless it is one in the background, throughout', () => {
    systemClock.setTimer(callback, 10);
    systemClock.setTimer(callback, 10, {});
    systemClock.setTimer(callback, 10, { background: false });
    systemClock.setTimer(callback, 10, { background: true });
    platform.fire(1);
    expect(platform.timers.map(({ isUnreferenced }) => isUnreferenced)).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
  });

  it('is taken back at the platform, whichever of the chain it is', () => {
    const timer = systemClock.setTimer(callback, 10);
    platform.fire(5);
    timer.cancel();
    expect(platform.timers.map(({ isCleared }) => isCleared)).toEqual([false, true]);
  });

  it('needs no way to leave the process alone, which browsers don’t have', () => {
    globalThis.setTimeout = (() => 17) as never;
    expect(() => systemClock.setTimer(callback, 10, { background: true })).not.toThrow();
  });
});
