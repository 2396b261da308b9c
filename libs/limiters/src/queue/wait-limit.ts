import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import { RefusedLease, REASON } from '../engine/refused-lease.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { Abortable } from './abort-subscription.js';
import { subscribeToAbort } from './abort-subscription.js';

/** Joins a caller's signal and a timer into the one signal that a limiter of another maker is given. */
class WaitLimit implements Abortable {
  readonly controller = new AbortController();
  readonly timedOut = new Error(REASON.waitLimitReached);

  onAbort(reason: unknown): void {
    this.controller.abort(reason);
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
  const limit = new WaitLimit();
  const timer = clock.setTimer(() => limit.controller.abort(limit.timedOut), maxWaitMs);
  const subscription = signal === undefined ? null : subscribeToAbort(signal, limit);
  try {
    return await acquire(limit.controller.signal);
  } catch (error) {
    if (error === limit.timedOut) return new RefusedLease(REASON.waitLimitReached);
    throw error;
  } finally {
    timer.cancel();
    subscription?.delete(limit);
  }
}
