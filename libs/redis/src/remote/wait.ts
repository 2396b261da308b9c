import type { Abortable, Clock, EndableWait, JointWait } from '@ratelease/limiters';
import { subscribeToAbort } from '@ratelease/limiters';

/** How a wait can end before what is waited for. */
export type EarlyEnd = 'timedOut' | 'disposed';

/** What bounds a request: the caller's signal, the caller's patience, the end of the limiter. */
export class Wait implements EndableWait {
  readonly signal: AbortSignal | undefined;
  /** See {@link JointWait}. */
  readonly onWait: (() => void) | undefined;
  /** `false`: it takes what it gets at once. */
  readonly mayWait: boolean;
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #owners: readonly Set<EndableWait>[];
  #end: ((end: EarlyEnd) => void) | null = null;
  #isDisposed = false;

  /** @param owners - the waits of each limiter that is asked, and of the chain that asks: they end with it. */
  constructor(
    clock: Clock,
    owners: readonly Set<EndableWait>[],
    { signal, maxWaitMs = Infinity, onWait }: Partial<JointWait>,
  ) {
    this.#clock = clock;
    this.#owners = owners;
    this.signal = signal;
    this.onWait = onWait;
    this.mayWait = maxWaitMs > 0;
    this.#deadlineMs = maxWaitMs === Infinity ? Infinity : clock.now() + maxWaitMs;
    for (const owner of owners) owner.add(this);
  }

  /** The time that is left, in milliseconds. */
  get leftMs(): number {
    return this.#deadlineMs === Infinity ? Infinity : Math.max(0, this.#deadlineMs - this.#clock.now());
  }

  /** The limiter has ended. */
  dispose(): void {
    this.#isDisposed = true;
    this.#end?.('disposed');
  }

  /** The request has ended. */
  end(): void {
    for (const owner of this.#owners) owner.delete(this);
  }

  /** Waits for an answer that comes soon in any case: only an abort ends that earlier. */
  orAbort<T>(answer: Promise<T>, onAbort: () => void): Promise<T> {
    const { signal } = this;
    if (signal === undefined) return answer;
    return new Promise<T>((resolve, reject) => {
      const abortable: Abortable = {
        onAbort: (reason) => {
          onAbort();
          reject(reason);
        },
        afterAbort: () => undefined,
      };
      if (signal.aborted) return abortable.onAbort(signal.reason);
      const subscription = subscribeToAbort(signal, abortable);
      void answer.then((value) => {
        subscription.delete(abortable);
        resolve(value);
      });
    });
  }

  /** Waits for something that may take long. `onEarlyEnd` is called when anything else ends the wait. */
  async race<T>(awaited: Promise<T>, onEarlyEnd: () => void): Promise<T | EarlyEnd> {
    this.onWait?.();
    let isEarly = false;
    const early = new Promise<EarlyEnd>((resolve) => {
      this.#end = (end) => {
        isEarly = true;
        resolve(end);
      };
      if (this.#isDisposed) this.#end('disposed');
    });
    const { leftMs } = this;
    const timer = leftMs === Infinity ? null : this.#clock.setTimer(() => this.#end?.('timedOut'), leftMs);
    try {
      const ended = await this.orAbort(Promise.race([awaited, early]), onEarlyEnd);
      if (isEarly) onEarlyEnd();
      return ended;
    } finally {
      this.#end = null;
      timer?.cancel();
    }
  }
}
