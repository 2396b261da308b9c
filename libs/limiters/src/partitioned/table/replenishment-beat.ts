import type { Clock, ClockTimer } from '../../clock.js';
import type { KeptLimiter } from './kept-limiter.js';
import type { PartitionErrorHandler } from './table-options.js';

/** Limiters that don't replenish by themselves are asked to at least this often while somebody waits in them. */
const BEAT_MS = 100;

/** Replenishes the limiters that wait for somebody to do so. */
export class ReplenishmentBeat {
  readonly #clock: Clock;
  readonly #onError: PartitionErrorHandler | undefined;
  readonly #waiting = new Set<KeptLimiter>();
  #timer: ClockTimer | null = null;
  readonly #onTimer = (): void => {
    this.#timer = null;
    for (const kept of this.#waiting) {
      this.#replenish(kept);
      if (!this.#hasWaiters(kept)) this.#waiting.delete(kept);
    }
    this.#arm();
  };

  constructor(clock: Clock, onError: PartitionErrorHandler | undefined) {
    this.#clock = clock;
    this.#onError = onError;
  }

  /** Replenishes now; then at every beat for as long as somebody waits. */
  touch(kept: KeptLimiter): void {
    this.#replenish(kept);
    this.#waiting.add(kept);
    this.#arm();
  }

  forget(kept: KeptLimiter): void {
    if (this.#waiting.delete(kept) && this.#waiting.size === 0) this.stop();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #arm(): void {
    if (this.#timer === null && this.#waiting.size > 0)
      this.#timer = this.#clock.setTimer(this.#onTimer, BEAT_MS);
  }

  #replenish(kept: KeptLimiter): void {
    try {
      kept.manual?.tryReplenish();
    } catch (error) {
      this.#onError?.(error, kept.key);
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
