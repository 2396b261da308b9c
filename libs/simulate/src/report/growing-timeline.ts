import type { Timeline, TimelineStep } from './simulation-report.js';
import type { Outcome } from './outcome-tally.js';
import { OutcomeTally } from './outcome-tally.js';

const MOST_STEPS = 240;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Each divides the next, so that steps can be put together. */
const STEPS_MS = [
  10,
  50,
  100,
  500,
  SECOND_MS,
  5 * SECOND_MS,
  15 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  DAY_MS,
  7 * DAY_MS,
  28 * DAY_MS,
  364 * DAY_MS,
];

/** Requests over time, of which nobody knows how long it will be: where it gets too long, the steps get longer. */
export class GrowingTimeline {
  #stepMs: number;
  readonly #isFixed: boolean;
  #tallies = new Map<number, OutcomeTally>();
  #first = Infinity;
  #last = -Infinity;

  constructor(stepMs: number | undefined) {
    this.#isFixed = stepMs !== undefined;
    this.#stepMs = stepMs ?? STEPS_MS[0]!;
  }

  add(timeMs: number, outcome: Outcome): void {
    let index = Math.floor(timeMs / this.#stepMs);
    this.#first = Math.min(this.#first, index);
    this.#last = Math.max(this.#last, index);
    if (!this.#isFixed && this.#last - this.#first >= MOST_STEPS) {
      this.#coarsen();
      index = Math.floor(timeMs / this.#stepMs);
    }
    this.#tally(index)[outcome]++;
  }

  report(): Timeline {
    const steps: TimelineStep[] = [];
    const none = new OutcomeTally();
    for (let index = this.#first; index <= this.#last; index++)
      steps.push({ startMs: index * this.#stepMs, ...(this.#tallies.get(index) ?? none).counts() });
    return { stepMs: this.#stepMs, steps };
  }

  #tally(index: number): OutcomeTally {
    let tally = this.#tallies.get(index);
    if (tally === undefined) this.#tallies.set(index, (tally = new OutcomeTally()));
    return tally;
  }

  #coarsen(): void {
    const fineMs = this.#stepMs;
    const lengthMs = (this.#last - this.#first + 1) * fineMs;
    const stepMs =
      STEPS_MS.find((step) => step > fineMs && lengthMs / step < MOST_STEPS - 1) ?? STEPS_MS.at(-1)!;
    const fine = this.#tallies;
    this.#stepMs = stepMs;
    this.#tallies = new Map();
    this.#first = Math.floor((this.#first * fineMs) / stepMs);
    this.#last = Math.floor((this.#last * fineMs) / stepMs);
    for (const [index, tally] of fine) this.#tally(Math.floor((index * fineMs) / stepMs)).add(tally);
  }
}
