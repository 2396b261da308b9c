import type { Clock } from '../../clock.js';
import { assertTimerIsSet } from '../../engine/clock-timer.js';
import { OnlyTimer } from '../../engine/only-timer.js';
import type { KeptLimiter } from './kept-limiter.js';
import type { PartitionErrorHandler } from './table-options.js';

/** Limiters that don't replenish by themselves are asked to at least this often while somebody waits in them. */
const BEAT_MS = 100;

/** Replenishes the limiters that wait for somebody to do so. */
export class ReplenishmentBeat {
  readonly #clock: Clock;
  readonly #onError: PartitionErrorHandler | undefined;
  readonly #watched = new Set<KeptLimiter>();
  readonly #timer = new OnlyTimer();
  #isArmed = false;
  #isBackground = false;
  readonly #onTimer = (): void => {
    assertTimerIsSet(this.#onTimer);
    this.stop();
    for (const kept of this.#watched) {
      this.replenish(kept);
      if (!this.#hasWaiters(kept)) this.#watched.delete(kept);
    }
    // Whoever is left has somebody who waits for the timer.
    if (this.#watched.size > 0) this.#arm(false);
  };

  constructor(clock: Clock, onError: PartitionErrorHandler | undefined) {
    this.#clock = clock;
    this.#onError = onError;
  }

  /** Applies what is due in a limiter that doesn't do so by itself. */
  replenish(kept: KeptLimiter): void {
    try {
      kept.manual?.tryReplenish();
    } catch (error) {
      this.#onError?.(error, kept.key);
    }
  }

  /** Keeps replenishing a limiter while somebody waits in it. */
  keep(kept: KeptLimiter): void {
    if (!this.#hasWaiters(kept)) return;
    this.#watched.add(kept);
    this.#arm(false);
  }

  /** Looks at a limiter at the next beat: somebody may wait in it by then. */
  watch(kept: KeptLimiter): void {
    if (kept.manual === null) return;
    this.#watched.add(kept);
    this.#arm(true);
  }

  forget(kept: KeptLimiter): void {
    if (this.#watched.delete(kept) && this.#watched.size === 0) this.stop();
  }

  stop(): void {
    this.#isArmed = false;
    this.#timer.cancel();
  }

  #arm(background: boolean): void {
    if (this.#isArmed && (background || !this.#isBackground)) return;
    const wasArmed = this.#isArmed;
    // Noted before: the clock may run code of others that comes back here.
    this.#isArmed = true;
    this.#isBackground = background;
    try {
      this.#timer.set(this.#clock, this.#onTimer, BEAT_MS, { background });
    } catch (error) {
      // The timer before, if any, stays, and was one in the background.
      this.#isArmed = wasArmed;
      this.#isBackground = true;
      throw error;
    }
  }

  #hasWaiters(kept: KeptLimiter): boolean {
    try {
      return kept.hasWaiters;
    } catch (error) {
      this.#onError?.(error, kept.key);
      return false;
    }
  }
}
