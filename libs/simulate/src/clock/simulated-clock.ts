import type { Clock, ClockTimer, TimerOptions } from '@ratelease/limiters';
import { Heap } from '../ordering/heap.js';

/** How often what nobody waits for is done: limiters tidy up ten times a second, and a day has many seconds. */
const BACKGROUND_MS = 60_000;

class SimulatedTimer implements ClockTimer {
  isCancelled = false;

  constructor(
    readonly atMs: number,
    readonly order: number,
    readonly callback: () => void,
  ) {}

  cancel(): void {
    this.isCancelled = true;
  }
}

/**
 * The time of a replay: it goes from event to event. `FakeClock` looks at every timer at each step; here there is one
 * for each request at work, so they stand in a heap.
 */
export class SimulatedClock implements Clock {
  #nowMs = 0;
  #count = 0;
  readonly #timers = new Heap<SimulatedTimer>(
    (left, right) => left.atMs < right.atMs || (left.atMs === right.atMs && left.order < right.order),
  );

  now(): number {
    return this.#nowMs;
  }

  setTimer(callback: () => void, delayMs: number, options?: TimerOptions): ClockTimer {
    const isPatient = options?.background === true && delayMs > 0;
    const atMs = this.#nowMs + (isPatient ? Math.max(BACKGROUND_MS, delayMs) : Math.max(0, delayMs));
    const timer = new SimulatedTimer(atMs, this.#count++, callback);
    this.#timers.add(timer);
    return timer;
  }

  /**
   * Runs the next timer that is due at or before a time, at its own time.
   * @returns `false` where there is none; a finite time is then the clock's.
   */
  runNext(untilMs: number): boolean {
    while (this.#timers.first?.isCancelled === true) this.#timers.takeFirst();
    const next = this.#timers.first;
    if (next === undefined || next.atMs > untilMs) {
      if (Number.isFinite(untilMs)) this.#nowMs = Math.max(this.#nowMs, untilMs);
      return false;
    }
    this.#timers.takeFirst();
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    next.callback();
    return true;
  }
}
