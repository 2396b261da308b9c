import type { WaitQuantiles } from './wait-histogram.js';
import { NO_WAITS, WaitHistogram } from './wait-histogram.js';

/** How many seconds are remembered. */
export const HISTORY_SECONDS = 300;

/** What a second was like for a policy. */
export interface SecondOfPolicy {
  readonly granted: number;
  readonly refused: number;
  /** The most requests that waited at a time. */
  readonly waiting: number;
  /** The most permits that were in use at a time. */
  readonly inUse: number;
  /** How long requests had waited that were granted or refused after a wait, in milliseconds. */
  readonly waits: WaitQuantiles;
}

type Second = { -readonly [Key in keyof SecondOfPolicy]: SecondOfPolicy[Key] };

/**
 * The last five minutes of a policy, second by second: a ring, whatever happens in it. No timer fills it; who
 * notes or reads something says which second it is, and the seconds in between were quiet.
 */
export class PolicyRecord {
  readonly #ring: Second[] = Array.from({ length: HISTORY_SECONDS }, () => quietSecond(0, 0));
  readonly #waits = new WaitHistogram();
  #second: number;
  #waiting = 0;
  #inUse = 0;

  /** @param second - the present one, counted from any origin. */
  constructor(second: number) {
    this.#second = second;
  }

  /** How many wait, and how many permits are in use. */
  gauge(second: number, waiting: number, inUse: number): void {
    const slot = this.#at(second);
    this.#waiting = waiting;
    this.#inUse = inUse;
    slot.waiting = Math.max(slot.waiting, waiting);
    slot.inUse = Math.max(slot.inUse, inUse);
  }

  /** A request was granted. */
  granted(second: number): void {
    this.#at(second).granted++;
  }

  /** A request was refused. */
  refused(second: number): void {
    this.#at(second).refused++;
  }

  /** A request that was decided now has waited. */
  waited(second: number, waitMs: number): void {
    this.#at(second);
    this.#waits.add(waitMs);
  }

  /** The seconds from `from` to `until`, which must be over and at most {@link HISTORY_SECONDS} − 1 ago. */
  read(from: number, until: number): readonly SecondOfPolicy[] {
    this.#at(until + 1);
    const count = Math.max(0, until - from + 1);
    return Array.from({ length: count }, (_, index) => this.#slot(from + index));
  }

  #at(second: number): Second {
    if (second > this.#second) this.#advance(second);
    return this.#slot(this.#second);
  }

  #advance(second: number): void {
    this.#slot(this.#second).waits = this.#waits.take();
    // What stood a whole ring ago is out of it, however long it was quiet.
    const first = Math.max(this.#second + 1, second - HISTORY_SECONDS + 1);
    for (let passed = first; passed <= second; passed++) {
      this.#ring[passed % HISTORY_SECONDS] = quietSecond(this.#waiting, this.#inUse);
    }
    this.#second = second;
  }

  #slot(second: number): Second {
    return this.#ring[second % HISTORY_SECONDS]!;
  }
}

function quietSecond(waiting: number, inUse: number): Second {
  return { granted: 0, refused: 0, waiting, inUse, waits: NO_WAITS };
}
