import type { Clock } from '@ratelease/limiters';

const INTERVAL_MS = 10_000;

interface Tally {
  since: number;
  count: number;
}

/**
 * Says when something that happens again and again is worth a line: at its first time, then once per interval,
 * with the number. It keeps an entry per subject, and no timer.
 */
export class IntervalTally<TSubject> {
  readonly #clock: Clock;
  readonly #tallies = new Map<TSubject, Tally>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * It happened once more.
   *
   * @returns how often since the last line; `undefined` where it is too early for another one.
   */
  note(subject: TSubject): number | undefined {
    const now = this.#clock.now();
    const tally = this.#tallies.get(subject);
    if (tally === undefined) {
      this.#tallies.set(subject, { since: now, count: 0 });
      return 1;
    }
    tally.count++;
    if (now - tally.since < INTERVAL_MS) return undefined;
    const { count } = tally;
    tally.since = now;
    tally.count = 0;
    return count;
  }
}
