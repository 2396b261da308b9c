/** Something that waits for an answer. */
export interface Expirable {
  readonly deadlineMs: number;
  readonly isSettled: boolean;
  /** The answer did not come in time. */
  expire(): void;
}

/** Those that have the same time, in the order in which they began to wait. */
class DeadlineList {
  #waiting: Expirable[] = [];
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

  settled(): void {
    // Nobody waits: the timer that is still set must not keep the process alive.
    if (--this.#unsettled === 0) this.#timer?.unref();
  }

  #arm(delayMs: number): void {
    this.#run(() => {
      this.#timer = setTimeout(() => this.#onTimer(), Math.max(1, Math.ceil(delayMs)));
    });
  }

  #onTimer(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    const left = this.#waiting.filter((expirable) => !expirable.isSettled);
    const due = left.filter((expirable) => expirable.deadlineMs <= nowMs);
    this.#waiting = left.filter((expirable) => expirable.deadlineMs > nowMs);
    for (const expirable of due) expirable.expire();
    const first = this.#waiting.find((expirable) => !expirable.isSettled);
    if (first !== undefined && this.#timer === undefined) this.#arm(first.deadlineMs - nowMs);
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

  /** From now on the wait ends after so many milliseconds. Returns what is to be called once it has ended. */
  watch(expirable: Expirable, timeoutMs: number): () => void {
    let list = this.#lists.get(timeoutMs);
    if (list === undefined) this.#lists.set(timeoutMs, (list = new DeadlineList(timeoutMs, this.#run)));
    list.add(expirable);
    const watching = list;
    return () => watching.settled();
  }
}
