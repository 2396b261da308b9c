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

  /** Resolves after so many milliseconds. */
  async takes(durationMs: number): Promise<void> {
    this.#running++;
    await new Promise<void>((resolve) => void this.#clock.setTimer(resolve, durationMs));
    this.#running--;
  }
}
