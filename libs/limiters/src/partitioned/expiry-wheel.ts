import type { Clock, ClockTimer } from '../clock.js';

/** Something that is looked at again at its due time. */
export interface Expiring {
  /** Clock milliseconds. */
  dueMs: number;
}

/** Looked at together: everything due within this span. */
const BUCKET_MS = 100;
/** Looked at in one go, so that however many are due at once, the event loop is never held. */
const SLICE = 1000;

/**
 * Things to be looked at when they are due, in buckets of {@link BUCKET_MS}. One background timer, set for the
 * first bucket while there is one; nothing is looked at before it is due.
 */
export class ExpiryWheel<T extends Expiring> {
  readonly #clock: Clock;
  readonly #look: (item: T) => void;
  readonly #buckets = new Map<number, Set<T>>();
  #timer: ClockTimer | null = null;
  #timerBucket = Infinity;
  /** Until then nothing that was found too early becomes due. */
  #nothingBeforeMs = -Infinity;
  readonly #onTimer = (): void => {
    this.#timer = null;
    this.#timerBucket = Infinity;
    this.#turn();
  };

  /** @param look - called with each thing that is due, after it has left the wheel. */
  constructor(clock: Clock, look: (item: T) => void) {
    this.#clock = clock;
    this.#look = look;
  }

  add(item: T): void {
    const number = bucketNumber(item.dueMs);
    let bucket = this.#buckets.get(number);
    if (bucket === undefined) {
      bucket = new Set();
      this.#buckets.set(number, bucket);
    }
    bucket.add(item);
    if (item.dueMs < this.#nothingBeforeMs) this.#nothingBeforeMs = item.dueMs;
    this.#arm(number);
  }

  delete(item: T): void {
    const number = bucketNumber(item.dueMs);
    const bucket = this.#buckets.get(number);
    if (bucket === undefined || !bucket.delete(item) || bucket.size > 0) return;
    this.#buckets.delete(number);
    if (this.#buckets.size === 0) this.stop();
  }

  /**
   * Finds one that is due at this instant and answers yes, without waiting for its bucket's turn. A search that
   * found nothing isn't repeated before something more is due.
   */
  findDue(isWanted: (item: T) => boolean): T | undefined {
    const nowMs = this.#clock.now();
    if (nowMs < this.#nothingBeforeMs) return undefined;
    let nextMs = Infinity;
    for (const [number, bucket] of this.#buckets) {
      if (number > bucketNumber(nowMs)) {
        nextMs = Math.min(nextMs, (number - 1) * BUCKET_MS);
        continue;
      }
      for (const item of bucket) {
        if (item.dueMs < nowMs && isWanted(item)) return item;
        // What is due but not wanted yet can be wanted a moment later.
        nextMs = Math.min(nextMs, Math.max(item.dueMs, nowMs + 1));
      }
    }
    this.#nothingBeforeMs = nextMs;
    return undefined;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerBucket = Infinity;
  }

  #turn(): void {
    let left = SLICE;
    const current = Math.floor(this.#clock.now() / BUCKET_MS);
    for (const [number, bucket] of this.#buckets) {
      if (number > current) continue;
      for (const item of bucket) {
        if (left-- === 0) return this.#goOn();
        bucket.delete(item);
        this.#look(item);
      }
      this.#buckets.delete(number);
    }
    this.#armFirst();
  }

  /** The rest of what is due, as soon as others have had the event loop. */
  #goOn(): void {
    this.#timerBucket = -Infinity;
    this.#timer = this.#clock.setTimer(this.#onTimer, 0, { background: true });
  }

  #armFirst(): void {
    let first = Infinity;
    for (const number of this.#buckets.keys()) first = Math.min(first, number);
    if (first !== Infinity) this.#arm(first);
  }

  #arm(number: number): void {
    if (number >= this.#timerBucket) return;
    this.#timer?.cancel();
    this.#timerBucket = number;
    const delayMs = Math.max(0, number * BUCKET_MS - this.#clock.now());
    this.#timer = this.#clock.setTimer(this.#onTimer, delayMs, { background: true });
  }
}

/** The bucket whose turn comes strictly after the due time, at most {@link BUCKET_MS} later. */
function bucketNumber(dueMs: number): number {
  return Math.floor(dueMs / BUCKET_MS) + 1;
}
