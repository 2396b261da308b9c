const GROWTH = 1.08;
const LOG_GROWTH = Math.log(GROWTH);
/** The last bucket begins above an hour: longer waits count there, and the maximum is exact all the same. */
const BUCKETS = 200;

/** Quantiles of some waits, in milliseconds. */
export interface WaitQuantiles {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/** Of no waits. */
export const NO_WAITS: WaitQuantiles = { p50: 0, p95: 0, max: 0 };

/**
 * Counts waits in buckets whose bounds grow by 8 %: any number of waits takes 800 bytes. A quantile is at most 8 %
 * plus 0.1 ms above the true one and never below; the maximum is exact.
 */
export class WaitHistogram {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;
  #max = 0;

  /** @param waitMs - of at least 0. */
  add(waitMs: number): void {
    this.#counts[bucketOf(waitMs)]!++;
    this.#total++;
    if (waitMs > this.#max) this.#max = waitMs;
  }

  /** The quantiles of what was added since the last call. */
  take(): WaitQuantiles {
    if (this.#total === 0) return NO_WAITS;
    const quantiles = { p50: this.#quantile(0.5), p95: this.#quantile(0.95), max: this.#max };
    this.#counts.fill(0);
    this.#total = 0;
    this.#max = 0;
    return quantiles;
  }

  #quantile(share: number): number {
    const rank = Math.ceil(share * this.#total);
    let counted = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      counted += this.#counts[bucket]!;
      if (counted >= rank)
        return bucket === BUCKETS - 1 ? this.#max : Math.min(upperBound(bucket), this.#max);
    }
    return this.#max;
  }
}

/** Bucket 0 ends at 1 ms × (growth − 1), that is below a tenth of a millisecond. */
function bucketOf(waitMs: number): number {
  return Math.min(BUCKETS - 1, Math.max(0, Math.ceil(Math.log1p(waitMs) / LOG_GROWTH) - 1));
}

function upperBound(bucket: number): number {
  return Math.expm1((bucket + 1) * LOG_GROWTH);
}
