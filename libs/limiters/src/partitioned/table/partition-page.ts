import type { AsyncRateLimiter } from '../../async-rate-limiter.js';
import type { RateLimitLease } from '../../rate-limit-lease.js';
import type { RateLimiterStatistics } from '../../rate-limiter-statistics.js';
import type { WaitLimits } from '../partitioned-rate-limiter.js';
import type { RateLimitPartition } from '../rate-limit-partition.js';
import type { KeyColumn } from './key-column.js';
import { NO_ROW, PAGE_ROWS } from './rows.js';

/** What the partitioner declared for a request. */
export type Declared = RateLimitPartition<unknown, AsyncRateLimiter>;

/** The table of a page. */
export interface TableChanges {
  /** Counts what came and went. */
  readonly changes: number;
}

/** A page of partitions: their keys, their places in the expiry wheel, and what the subclasses keep. */
export abstract class PartitionPage {
  /** The number of the page. */
  readonly number: number;
  /** The width of its column of keys, in words. */
  readonly keyWidth: number;
  readonly keys: KeyColumn;
  /** The next row of the bucket of the expiry wheel; of a free row, the next free place. */
  readonly links: Int32Array;
  #freeIndex = 0;
  #used = 0;
  #generations: Uint16Array | null = null;

  protected constructor(number: number, keyWidth: number, keys: KeyColumn) {
    this.number = number;
    this.keyWidth = keyWidth;
    this.keys = keys;
    this.links = new Int32Array(PAGE_ROWS);
    for (let index = 0; index < PAGE_ROWS; index++) {
      this.links[index] = index + 1 < PAGE_ROWS ? index + 1 : NO_ROW;
    }
  }

  get isFull(): boolean {
    return this.#used === PAGE_ROWS;
  }

  get isEmpty(): boolean {
    return this.#used === 0;
  }

  /** Takes a free place for a partition. */
  occupy(generation: number): number {
    const index = this.#freeIndex;
    this.#freeIndex = this.links[index]!;
    this.#used++;
    this.bringTo(index, generation);
    return index;
  }

  /** Frees a place that stands in no bucket any more. */
  free(index: number): void {
    this.links[index] = this.#freeIndex;
    this.#freeIndex = index;
    this.#used--;
  }

  /** Which generation of options the partition was brought to. */
  generationOf(index: number): number {
    return this.#generations === null ? 0 : this.#generations[index]!;
  }

  /** Notes the generation of options; as long as there is but one, nothing is kept. */
  bringTo(index: number, generation: number): void {
    if (generation === 0 && this.#generations === null) return;
    this.#generations ??= new Uint16Array(PAGE_ROWS);
    this.#generations[index] = generation;
  }

  /**
   * A whole decision, as one call; `null` where the partition is {@link PartitionPage.isEvictable}, or may be gone as its
   * limiter has used the table meanwhile.
   */
  attemptUnlessIdle(index: number, permits: number, now: number): RateLimitLease | null {
    const { changes } = this.table;
    if (this.isEvictable(index, now) || changes !== this.table.changes) return null;
    this.replenish(index);
    return changes === this.table.changes ? this.attempt(index, permits, now) : null;
  }

  /** The table that it belongs to. */
  abstract readonly table: TableChanges;

  /** Applies what is due, where the limiters don't do so by themselves. */
  abstract replenish(index: number): void;
  abstract attempt(index: number, permits: number, now: number): RateLimitLease;
  /** The lease itself where nobody has to wait; `wait` is called where somebody may. */
  // oxlint-disable-next-line max-params -- once per decision: they aren't worth an object
  abstract acquireOrWait(
    index: number,
    declared: Declared,
    identity: unknown,
    permits: number,
    wait: () => WaitLimits,
  ): RateLimitLease | Promise<RateLimitLease>;
  /** The limiter of the partition, as an object. */
  abstract limiterAt(index: number, declared: Declared, identity: unknown): AsyncRateLimiter;
  abstract statistics(index: number): RateLimiterStatistics | null;
  /** Asks for options again and applies the difference. */
  abstract refresh(index: number, declared: Declared): void;
  /** The partition of a place that waiting requests involve, for a refresh that can't wait for the next use. */
  abstract declaredByWaiters(index: number): Declared | null;
  /** Whether it has been idle for longer than the timeout, and no waiting chain involves it. */
  abstract isEvictable(index: number, now: number): boolean;
  /** The earliest moment, in clock milliseconds, at which it could be evictable. */
  abstract dueMs(index: number, now: number): number;
  /** Lets go of what only the last requests needed, and applies what is due where nobody asks any more. */
  abstract tidy(index: number): void;
  /** Ends the limiter of a partition that is found no more. */
  abstract end(index: number, onError: (error: unknown) => void): void;
}
