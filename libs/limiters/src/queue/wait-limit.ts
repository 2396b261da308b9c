import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import { RefusedLease, REASON } from '../engine/refused-lease.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { Abortable } from './abort-subscription.js';
import { subscribeToAbort, throwIfAborted } from './abort-subscription.js';

/**
 * An acquisition in limiters that know no other end of a wait than a signal's: it has one of its own, which the caller's
 * signal aborts, and whatever else may end it.
 */
export class EndableAcquisition implements Abortable {
  readonly #controller = new AbortController();
  readonly #ended: Error;

  /** @param reason - what the refused lease says in which it results when it is ended. */
  constructor(reason: string) {
    this.#ended = new Error(reason);
  }

  /**
   * @param acquire - starts the acquisition with the signal to obey.
   * @returns its outcome, or a refused lease.
   */
  async run(
    acquire: (signal: AbortSignal) => Promise<RateLimitLease>,
    signal: AbortSignal | undefined,
  ): Promise<RateLimitLease> {
    if (signal !== undefined) throwIfAborted(signal);
    const subscription = signal === undefined ? null : subscribeToAbort(signal, this);
    try {
      return await acquire(this.#controller.signal);
    } catch (error) {
      if (error === this.#ended) return new RefusedLease(this.#ended.message);
      throw error;
    } finally {
      subscription?.delete(this);
    }
  }

  /** Ends it, where it has not ended yet. */
  dispose(): void {
    this.#controller.abort(this.#ended);
  }

  onAbort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  afterAbort(): void {
    // The limiter that was given the signal has its own way of going on.
  }
}

/**
 * Bounds the wait in a limiter that has no notion of it: its acquisition is aborted when the time is over.
 *
 * @param acquire - starts the acquisition with the signal to obey.
 * @returns the acquisition's outcome, or a refused lease with the reason `Wait limit reached`.
 */
export async function acquireWithTimeout(
  acquire: (signal: AbortSignal) => Promise<RateLimitLease>,
  maxWaitMs: number,
  signal: AbortSignal | undefined,
  clock: Clock = systemClock,
): Promise<RateLimitLease> {
  const acquisition = new EndableAcquisition(REASON.waitLimitReached);
  const timer = clock.setTimer(() => acquisition.dispose(), maxWaitMs);
  try {
    return await acquisition.run(acquire, signal);
  } finally {
    timer.cancel();
  }
}
