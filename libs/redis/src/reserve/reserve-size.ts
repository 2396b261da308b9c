/** A reserve is to last so long. */
const HORIZON_MS = 100;

/**
 * How many permits are worth reserving: as many as this process asked for lately in {@link HORIZON_MS}, but never more
 * than its part of half of what is left. So the last of a limit are asked for one by one.
 */
export class ReserveSize {
  readonly #most: number;
  readonly #instances: number;
  #sinceMs = -Infinity;
  #asked = 0;
  #before = 0;
  /** What the server had left when it was asked last; nothing as long as nobody knows. */
  #remaining = 0;

  /**
   * @param most - more are never reserved.
   * @param instances - so many processes reserve of the same limit.
   */
  constructor(most: number, instances: number) {
    this.#most = most;
    this.#instances = instances;
  }

  /** The server has so many left. */
  heard(remaining: number): void {
    this.#remaining = remaining;
  }

  /** Somebody asks for so many. */
  count(permits: number, nowMs: number): void {
    this.#turnOver(nowMs);
    this.#asked += permits;
  }

  /** How many to reserve now. What is only being asked for counts from the next time on: one request is no rate. */
  at(nowMs: number): number {
    this.#turnOver(nowMs);
    const spare = Math.floor(this.#remaining / (2 * this.#instances));
    return Math.min(this.#most, spare, Math.max(this.#asked, this.#before));
  }

  #turnOver(nowMs: number): void {
    const passedMs = nowMs - this.#sinceMs;
    if (passedMs < HORIZON_MS) return;
    this.#before = Math.floor((this.#asked * HORIZON_MS) / passedMs);
    this.#asked = 0;
    this.#sinceMs = nowMs;
  }
}
