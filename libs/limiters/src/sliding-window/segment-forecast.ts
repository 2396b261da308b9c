/** Permits that come back together. */
interface Return {
  readonly boundary: number;
  permits: number;
}

/**
 * Plays a sliding window forward: whole requests in order, the first blocking the others, each taking what has
 * come back by then, to come back once more a window later.
 */
export class SegmentForecast {
  /** The boundary at which the last request was served. */
  boundary: number;
  #available: number;
  readonly #segments: number;
  readonly #returns: Return[] = [];
  #next = 0;

  constructor(available: number, segments: number, boundary: number) {
    this.#available = available;
    this.#segments = segments;
    this.boundary = boundary;
  }

  /** Permits come back at a boundary; to be told in order. */
  expect(boundary: number, permits: number): void {
    const last = this.#returns.at(-1);
    // It can't have come back already: this boundary is behind the one at which the last request was served.
    if (last?.boundary === boundary) last.permits += permits;
    else this.#returns.push({ boundary, permits });
  }

  /** Serves one request at the first boundary that has enough. */
  serve(permits: number): void {
    while (this.#available < permits) {
      const next = this.#returns[this.#next++];
      // More than all permits: only a limit that was lowered meanwhile makes such a request.
      if (next === undefined) return;
      this.boundary = Math.max(this.boundary, next.boundary);
      this.#available += next.permits;
    }
    this.#available -= permits;
    this.expect(this.boundary + this.#segments, permits);
  }
}
