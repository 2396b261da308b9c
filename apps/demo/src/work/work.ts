import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@ratelease/limiters';
import { CLOCK } from './clock.js';

/** What the slow endpoints do: nothing, but it takes its time. */
@Injectable()
export class Work {
  readonly #clock: Clock;
  #running = 0;

  constructor(@Inject(CLOCK) clock: Clock) {
    this.#clock = clock;
  }

  /** How many do so at present. */
  get running(): number {
    return this.#running;
  }

  /**
   * Resolves after so many milliseconds.
   *
   * @param signal - ends it: it rejects with the signal's reason.
   */
  async takes(durationMs: number, signal?: AbortSignal): Promise<void> {
    this.#running++;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        timer.cancel();
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = this.#clock.setTimer(end, durationMs);
      signal?.addEventListener('abort', end);
    });
    this.#running--;
    signal?.throwIfAborted();
  }
}
