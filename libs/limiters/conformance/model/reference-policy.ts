/**
 * The arithmetic of the limiters written down as naively as it can be: time in whole milliseconds, one after the
 * other; lists of what was granted; integers of any size. Slow, and obviously what the documentation says.
 */
export interface ReferencePolicy {
  /** Whole permits free. */
  readonly available: number;
  /** A millisecond has passed; `nowMs` is the new time since construction. */
  tick(nowMs: number): void;
  /** Drops what is above the limit, once those who waited had their share. */
  cap?(): void;
  take(permits: number): void;
  /** The lease of so many permits was disposed. */
  release(permits: number): void;
  clone(): ReferencePolicy;
}

export class ReferenceConcurrency implements ReferencePolicy {
  available: number;

  constructor(limit: number) {
    this.available = limit;
  }

  tick(): void {
    // Time brings nothing back.
  }

  take(permits: number): void {
    this.available -= permits;
  }

  release(permits: number): void {
    this.available += permits;
  }

  clone(): ReferenceConcurrency {
    return new ReferenceConcurrency(this.available);
  }
}

/** Everything granted, by the number of its segment; a fixed window has one segment. */
export class ReferenceWindow implements ReferencePolicy {
  #segment = 0;
  #grants: { segment: number; permits: number }[] = [];
  readonly #limit: number;
  readonly #segmentMs: number;
  readonly #segments: number;

  constructor(limit: number, segmentMs: number, segments: number) {
    this.#limit = limit;
    this.#segmentMs = segmentMs;
    this.#segments = segments;
  }

  get available(): number {
    return this.#limit - this.#grants.reduce((sum, { permits }) => sum + permits, 0);
  }

  tick(nowMs: number): void {
    this.#segment = Math.floor(nowMs / this.#segmentMs);
    this.#grants = this.#grants.filter(({ segment }) => segment + this.#segments > this.#segment);
  }

  take(permits: number): void {
    this.#grants.push({ segment: this.#segment, permits });
  }

  release(): void {
    // Comes back with time.
  }

  clone(): ReferenceWindow {
    const clone = new ReferenceWindow(this.#limit, this.#segmentMs, this.#segments);
    clone.#segment = this.#segment;
    clone.#grants = [...this.#grants];
    return clone;
  }
}

/** A bucket in parts of a token: `periodMs` parts are one, each millisecond brings `tokensPerPeriod` of them. */
export class ReferenceGreedyBucket implements ReferencePolicy {
  #parts: bigint;
  readonly #limit: bigint;
  readonly #perPeriod: bigint;
  readonly #periodMs: bigint;

  constructor(limit: number, tokensPerPeriod: number, periodMs: number) {
    this.#periodMs = BigInt(periodMs);
    this.#limit = BigInt(limit) * this.#periodMs;
    this.#perPeriod = BigInt(tokensPerPeriod);
    this.#parts = this.#limit;
  }

  get available(): number {
    return Number(this.#parts / this.#periodMs);
  }

  tick(): void {
    this.#parts += this.#perPeriod;
  }

  cap(): void {
    if (this.#parts > this.#limit) this.#parts = this.#limit;
  }

  take(permits: number): void {
    this.#parts -= BigInt(permits) * this.#periodMs;
  }

  release(): void {
    // Comes back with time.
  }

  clone(): ReferenceGreedyBucket {
    const limit = Number(this.#limit / this.#periodMs);
    const clone = new ReferenceGreedyBucket(limit, Number(this.#perPeriod), Number(this.#periodMs));
    clone.#parts = this.#parts;
    return clone;
  }
}

/** A bucket that gets all tokens of a period at its end. */
export class ReferenceIntervalBucket implements ReferencePolicy {
  available: number;
  readonly #limit: number;
  readonly #perPeriod: number;
  readonly #periodMs: number;

  constructor(limit: number, tokensPerPeriod: number, periodMs: number) {
    this.#limit = limit;
    this.#perPeriod = tokensPerPeriod;
    this.#periodMs = periodMs;
    this.available = limit;
  }

  tick(nowMs: number): void {
    if (nowMs % this.#periodMs === 0)
      this.available = Math.min(this.#limit, this.available + this.#perPeriod);
  }

  take(permits: number): void {
    this.available -= permits;
  }

  release(): void {
    // Comes back with time.
  }

  clone(): ReferenceIntervalBucket {
    const clone = new ReferenceIntervalBucket(this.#limit, this.#perPeriod, this.#periodMs);
    clone.available = this.available;
    return clone;
  }
}
