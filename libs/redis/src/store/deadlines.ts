import { afterWhatLiesThere } from './after-what-lies-there.js';
import { timerDelay } from './timer-delay.js';

/** Something that waits for an answer. */
export interface Expirable {
  readonly deadlineMs: number;
  readonly isSettled: boolean;
  /** Whether an answer may lie there already that tells of the store, where the process stood still meanwhile. */
  readonly isUnderway: boolean;
  /** The answer did not come in time. */
  expire(): void;
}

/** To be told of a wait that it has ended. */
export interface Watching {
  settled(): void;
}

/** Those that have ended are dropped in steps of so many. */
const COMPACTED_AT = 512;

/** Those that have the same time, in the order in which they began to wait. */
class DeadlineList implements Watching {
  #waiting: (Expirable | undefined)[] = [];
  /** Before this index all have ended. */
  #head = 0;
  #unsettled = 0;
  #timer: NodeJS.Timeout | undefined = undefined;
  readonly #timeoutMs: number;
  readonly #run: (start: () => void) => void;

  constructor(timeoutMs: number, run: (start: () => void) => void) {
    this.#timeoutMs = timeoutMs;
    this.#run = run;
  }

  add(expirable: Expirable): void {
    this.#waiting.push(expirable);
    this.#unsettled++;
    if (this.#timer === undefined) this.#arm(this.#timeoutMs);
    else if (this.#unsettled === 1) this.#timer.ref();
  }

  /** What has ended must not live on until the timer: a young object that dies soon costs nothing. */
  settled(): void {
    this.#skipSettled();
    // Nobody waits: the timer that is still set must not keep the process alive.
    if (--this.#unsettled === 0) this.#timer?.unref();
  }

  #skipSettled(): void {
    const waiting = this.#waiting;
    while (this.#head < waiting.length && waiting[this.#head]!.isSettled) waiting[this.#head++] = undefined;
    if (this.#head < COMPACTED_AT || this.#head * 2 <= waiting.length) return;
    this.#waiting = waiting.slice(this.#head);
    this.#head = 0;
  }

  #arm(delayMs: number): void {
    this.#run(() => {
      this.#timer = setTimeout(() => this.#onTimer(), timerDelay(delayMs));
    });
  }

  /** Its timer counts as set until they have ended: who begins to wait meanwhile is behind them. */
  #onTimer(): void {
    const nowMs = performance.now();
    const here: Expirable[] = [];
    const underway: Expirable[] = [];
    for (let at = this.#head; at < this.#waiting.length; at++) {
      const expirable = this.#waiting[at]!;
      if (expirable.isSettled) continue;
      if (expirable.deadlineMs > nowMs) break;
      (expirable.isUnderway ? underway : here).push(expirable);
    }
    for (const expirable of here) expirable.expire();
    if (underway.length === 0) return this.#armForNext();
    afterWhatLiesThere(() => {
      for (const expirable of underway) if (!expirable.isSettled) expirable.expire();
      this.#armForNext();
    });
  }

  /** With the store lost, those that had not been sent yet have been answered too: no timer for them. */
  #armForNext(): void {
    this.#timer = undefined;
    this.#skipSettled();
    const first = this.#waiting[this.#head];
    if (first !== undefined) this.#arm(first.deadlineMs - performance.now());
  }
}

/** Ends the waits that take too long. One timer for each length of time, however many wait. */
export class Deadlines {
  readonly #lists = new Map<number, DeadlineList>();
  readonly #run: (start: () => void) => void;

  /** @param run - runs what starts a timer, outside of any request's asynchronous context. */
  constructor(run: (start: () => void) => void) {
    this.#run = run;
  }

  /** From now on the wait ends after so many milliseconds. */
  watch(expirable: Expirable, timeoutMs: number): Watching {
    let list = this.#lists.get(timeoutMs);
    if (list === undefined) this.#lists.set(timeoutMs, (list = new DeadlineList(timeoutMs, this.#run)));
    list.add(expirable);
    return list;
  }

  /** The same for a wait that goes on: it ends at the deadline with which it began. */
  watchRest(expirable: Expirable): Watching {
    let timer: NodeJS.Timeout | undefined;
    this.#run(() => {
      timer = setTimeout(
        () => {
          if (expirable.isUnderway) afterWhatLiesThere(() => expirable.expire());
          else expirable.expire();
        },
        timerDelay(expirable.deadlineMs - performance.now()),
      );
    });
    return { settled: () => clearTimeout(timer) };
  }
}
