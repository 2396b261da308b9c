import type { Clock, ClockTimer } from '../clock.js';

const NANOSECONDS_PER_MILLISECOND = 1_000_000n;
/** So many timers at one instant are a timer that sets itself without end. */
const MOST_AT_ONE_INSTANT = 100_000;

interface FakeTimer {
  readonly at: bigint;
  readonly callback: () => void;
}

function toNanoseconds(milliseconds: number): bigint {
  const whole = Math.floor(milliseconds);
  return BigInt(whole) * NANOSECONDS_PER_MILLISECOND + BigInt(Math.round((milliseconds - whole) * 1e6));
}

/**
 * A clock that stands still until it is advanced, for tests. It counts whole nanoseconds, so that many small
 * steps add up to what one large step is.
 */
export class FakeClock implements Clock {
  #now: bigint;
  /** In the order of setting, which decides among those due at the same time. */
  readonly #timers = new Set<FakeTimer>();

  /** @param startMs - the first reading, any finite number of milliseconds. */
  constructor(startMs: number = 0) {
    this.#now = toNanoseconds(startMs);
  }

  now(): number {
    return (
      Number(this.#now / NANOSECONDS_PER_MILLISECOND) + Number(this.#now % NANOSECONDS_PER_MILLISECOND) / 1e6
    );
  }

  setTimer(callback: () => void, delayMs: number): ClockTimer {
    const timer: FakeTimer = { at: this.#now + (delayMs > 0 ? toNanoseconds(delayMs) : 0n), callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** How many timers are set and have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /**
   * Moves time on and runs every timer that becomes due on the way, in order, each at its own time. Synchronous:
   * promises that settle meanwhile are observed once the caller awaits.
   *
   * @param ms - milliseconds, fractions allowed; negative: the clock steps back and nothing fires.
   */
  advance(ms: number): void {
    const target = this.#now + toNanoseconds(ms);
    let last = -1n;
    let atThisInstant = 0;
    for (let next = this.#due(target); next !== undefined; next = this.#due(target)) {
      this.#timers.delete(next);
      if (next.at > this.#now) this.#now = next.at;
      atThisInstant = this.#now === last ? atThisInstant + 1 : 0;
      last = this.#now;
      if (atThisInstant > MOST_AT_ONE_INSTANT)
        throw new Error('FakeClock: timers at one instant without end.');
      next.callback();
    }
    this.#now = target;
  }

  /** Moves time without running what is due, as a blocked event loop does; the timers run at the next advance. */
  skip(ms: number): void {
    this.#now += toNanoseconds(ms);
  }

  #due(target: bigint): FakeTimer | undefined {
    let first: FakeTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= target && (first === undefined || timer.at < first.at)) first = timer;
    }
    return first;
  }
}
