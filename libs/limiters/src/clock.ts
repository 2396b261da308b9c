import { HALF_A_NANOSECOND_MS } from './engine/time-unit.js';

/**
 * The source of time of every limiter. Inject your own to test without waiting; `FakeClock` from
 * `@ratelease/limiters/testing` is one.
 */
export interface Clock {
  /**
   * Milliseconds from any fixed origin, fractions allowed. Should be monotonic: a reading below an earlier
   * one counts as no time passed, so that nothing is ever credited twice. What is no finite number is an error
   * (`ERR_RL_INVALID_TIME`).
   */
  now(): number;

  /**
   * Calls `callback` once, `delayMs` milliseconds from now, never before it has returned (`ERR_RL_INVALID_TIME`). Any
   * finite delay is allowed, beyond 2^31 ms too.
   *
   * @param options.background - `true`: the timer doesn't keep the process alive (somebody's tidying, not
   * somebody's wait).
   */
  setTimer(callback: () => void, delayMs: number, options?: TimerOptions): ClockTimer;
}

/** How a timer of a {@link Clock} behaves. */
export interface TimerOptions {
  /** `true` when nobody waits for this timer: it must not keep the process alive. Default `false`. */
  readonly background?: boolean | undefined;
}

/** A timer that a {@link Clock} has set. */
export interface ClockTimer {
  /** Takes the timer back; does nothing once it has fired or was cancelled. */
  cancel(): void;
}

/** Node keeps delays in a signed 32-bit integer and fires at once when one is larger. */
const LONGEST_NATIVE_DELAY_MS = 2_147_483_647;

class SystemTimer implements ClockTimer {
  #handle: ReturnType<typeof setTimeout> | undefined;
  readonly #callback: () => void;
  readonly #dueMs: number;
  readonly #background: boolean;

  constructor(callback: () => void, delayMs: number, background: boolean) {
    this.#callback = callback;
    this.#background = background;
    this.#dueMs = nowMs() + delayMs;
    this.#arm(delayMs);
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  #arm(delayMs: number): void {
    // Whole milliseconds but for a hair, as sums of readings come out, are whole milliseconds.
    const wholeMs = Math.ceil(delayMs - HALF_A_NANOSECOND_MS);
    const native = Math.min(Math.max(0, wholeMs), LONGEST_NATIVE_DELAY_MS);
    this.#handle = setTimeout(() => this.#fire(), native);
    if (this.#background) (this.#handle as { unref?: () => void }).unref?.();
  }

  #fire(): void {
    const leftMs = this.#dueMs - nowMs();
    // A wait longer than the native maximum is a chain of shorter ones.
    if (leftMs > 1) this.#arm(leftMs);
    else this.#callback();
  }
}

// As they are when this module is loaded.
const found = performance;
// oxlint-disable-next-line typescript/unbound-method -- only to see whether it is another one
const foundNow = performance.now;
const foundSetTimeout = setTimeout;
const foundDate = Date;

/** Dates that are faked with the timers, but without `performance`, and how far they are behind the clock. */
let followed: { readonly dates: typeof Date; readonly behindMs: number } | null = null;

function nowMs(): number {
  return setTimeout === foundSetTimeout && Date === foundDate ? found.now() : fakedNowMs();
}

/** Some fake timers, those of `node:test` among them, know nothing of `performance`: then the dates tell the time. */
function fakedNowMs(): number {
  const isFakedByDates =
    setTimeout !== foundSetTimeout && Date !== foundDate && performance === found && found.now === foundNow;
  if (!isFakedByDates) return performance.now();
  // Whole milliseconds, or sums with fractions would be a hair off, and timers a millisecond late; up, as time doesn't go back.
  if (followed?.dates !== Date) followed = { dates: Date, behindMs: Math.ceil(found.now()) - Date.now() };
  return Date.now() + followed.behindMs;
}

/**
 * The monotonic clock of the process (`performance.now`) with the platform's timers. Fake timers of a test runner work
 * without injecting anything: timers are looked up at each call, and so is `performance` while timers or dates are faked.
 *
 * Not always, because on Node.js the global `performance` is a getter that V8 calls anew each time: a tenth of a
 * decision went into that. `setTimeout` and `Date` are plain properties, which compiled code needs not read.
 */
export const systemClock: Clock = {
  now: nowMs,
  setTimer: (callback, delayMs, options) => new SystemTimer(callback, delayMs, options?.background === true),
};
