import type { Refused } from '../store/decision-request.js';
import { standingLater } from '../store/standing.js';

/**
 * The last refusal of rates that are asked together. Until its waiting time is over the server refuses every request
 * for as many permits or more: only time gives permits back, and what does so otherwise ends the memory here (see
 * `Store.generation`) or, where it happened elsewhere, after `mostMs`.
 */
export class RefusalMemory {
  readonly #mostMs: number;
  #needed = 0;
  #heardMs = 0;
  #untilMs = -Infinity;
  #generation = 0;
  #refused: Refused | undefined = undefined;

  /** @param mostMs - a refusal is never remembered for longer. */
  constructor(mostMs: number) {
    this.#mostMs = mostMs;
  }

  /** A refusal was heard at `nowMs`. */
  keep(refused: Refused, { permits, sinceMs, nowMs, generation }: Hearing): void {
    const needed = neededBy(permits);
    const untilMs = sinceMs + Math.min(this.#mostMs, refused.waitUs / 1_000);
    const isLesser = needed > this.#needed && this.#untilMs > sinceMs && this.#generation === generation;
    if (refused.waitUs <= 0 || isLesser) return;
    this.#refused = refused;
    this.#needed = needed;
    this.#heardMs = nowMs;
    this.#untilMs = untilMs;
    this.#generation = generation;
  }

  /** What the server would answer now, its waiting times shortened by what has passed; `undefined`: ask it. */
  recall(permits: number, nowMs: number, generation: number): Refused | undefined {
    const refused = this.#refused;
    if (refused === undefined) return undefined;
    if (nowMs >= this.#untilMs || this.#generation !== generation) {
      this.#refused = undefined;
      this.#untilMs = -Infinity;
      return undefined;
    }
    if (neededBy(permits) < this.#needed) return undefined;
    const passedUs = Math.floor((nowMs - this.#heardMs) * 1_000);
    const { member, waitUs, longestUs, standing } = refused;
    return {
      kind: 'refused',
      member,
      waitUs: Math.max(1, waitUs - passedUs),
      longestUs: longestUs < 0 ? -1 : Math.max(1, longestUs - passedUs),
      standing: standingLater(standing, passedUs),
    };
  }
}

/** What was refused, and when. */
export interface Hearing {
  readonly permits: number;
  /** When it was asked: earlier than the server decided, so that nothing is remembered for too long. */
  readonly sinceMs: number;
  /** When the answer came: later than the server decided, so that no waiting time is told too short. */
  readonly nowMs: number;
  /** The store's generation when it was asked. */
  readonly generation: number;
}

/** Asking for no permits is asking whether there is one. */
function neededBy(permits: number): number {
  return permits > 0 ? permits : 1;
}
