import type { Clock } from '../clock.js';
import { systemClock } from '../clock.js';
import type { WaitLimits } from '../partitioned/partitioned-rate-limiter.js';

/** How long a request may wait that asks one limiter after the other: it waits for all of them together so long. */
export class WaitBudget {
  readonly #signal: AbortSignal | undefined;
  #leftMs: number;

  constructor({ signal, maxWaitMs }: WaitLimits) {
    this.#signal = signal;
    this.#leftMs = maxWaitMs;
  }

  /**
   * Asks with what is left.
   *
   * @param clock - by which the limiter waits.
   */
  async spend<T>(ask: (wait: WaitLimits) => Promise<T>, clock: Clock = systemClock): Promise<T> {
    const wait = { signal: this.#signal, maxWaitMs: this.#leftMs };
    if (wait.maxWaitMs === Infinity) return ask(wait);
    const sinceMs = clock.now();
    const answer = await ask(wait);
    this.#leftMs = Math.max(0, this.#leftMs - Math.max(0, clock.now() - sinceMs));
    return answer;
  }
}
