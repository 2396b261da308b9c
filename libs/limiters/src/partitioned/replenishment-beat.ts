import type { Clock, ClockTimer } from '../clock.js';
import type { Partition } from './partition.js';
import type { PartitionErrorHandler } from './partition-store.js';

/** Limiters that don't replenish by themselves are asked to at least this often while somebody waits in them. */
const BEAT_MS = 100;

/** Replenishes the limiters that wait for somebody to do so. */
export class ReplenishmentBeat {
  readonly #clock: Clock;
  readonly #onError: PartitionErrorHandler | undefined;
  readonly #waiting = new Set<Partition<unknown>>();
  #timer: ClockTimer | null = null;
  readonly #onTimer = (): void => {
    this.#timer = null;
    for (const partition of this.#waiting) {
      this.#replenish(partition);
      if (!this.#hasWaiters(partition)) this.#waiting.delete(partition);
    }
    this.#arm();
  };

  constructor(clock: Clock, onError: PartitionErrorHandler | undefined) {
    this.#clock = clock;
    this.#onError = onError;
  }

  /** Replenishes now; then at every beat for as long as somebody waits. */
  touch(partition: Partition<unknown>): void {
    this.#replenish(partition);
    this.#waiting.add(partition);
    this.#arm();
  }

  forget(partition: Partition<unknown>): void {
    if (this.#waiting.delete(partition) && this.#waiting.size === 0) this.stop();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #arm(): void {
    if (this.#timer === null && this.#waiting.size > 0)
      this.#timer = this.#clock.setTimer(this.#onTimer, BEAT_MS);
  }

  #replenish(partition: Partition<unknown>): void {
    try {
      partition.manual?.tryReplenish();
    } catch (error) {
      this.#onError?.(error, partition.key);
    }
  }

  #hasWaiters(partition: Partition<unknown>): boolean {
    try {
      return partition.hasWaiters;
    } catch (error) {
      this.#onError?.(error, partition.key);
      return false;
    }
  }
}
