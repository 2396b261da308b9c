import type { AsyncRateLimiter } from '../../async-rate-limiter.js';
import type { Instant } from '../../chained/instant.js';
import type { Clock } from '../../clock.js';
import { originOf, readNanoseconds, sinceOrigin, toNanoseconds } from '../../engine/time-unit.js';
import type { LimiterOptions } from '../../engine/limiter-options.js';
import { ObjectDisposedError, throwCollected } from '../../errors.js';
import type { RateLimitLease } from '../../rate-limit-lease.js';
import { listenForEnd } from '../../managed-lifetime/when-ended.js';
import type { HelperPartition } from '../helper-partition.js';
import { isHelperPartition } from '../helper-partition.js';
import { CellGroup, CellGroups } from './cell-groups.js';
import type { PageContext } from './cell-page.js';
import type { ExpiringRows } from './expiry-wheel.js';
import { ExpiryWheel } from './expiry-wheel.js';
import { LimiterPage } from './limiter-page.js';
import { endLimiter, makeLimiter } from './own-limiter.js';
import type { Declared, PartitionPage } from './partition-page.js';
import { PartitionKeys } from './partition-keys.js';
import { ReplenishmentBeat } from './replenishment-beat.js';
import { indexOf, NO_ROW, PAGE_ROWS, pageOf } from './rows.js';
import type { TableOptions } from './table-options.js';
import { TablePages } from './table-pages.js';

/**
 * The live partitions, bounded in number: rows of numbers where the numbers say it all, objects where they don't.
 * Those that are idle for too long leave by themselves; each is looked at about once per idle timeout, not at every beat.
 */
export class PartitionTable implements ExpiringRows, PageContext {
  readonly originMs: number;
  readonly idleTimeout: number;
  readonly #options: TableOptions;
  readonly #rows: TablePages;
  /** Those of {@link PartitionTable.#rows}: nearer by a step on the way of every decision. */
  readonly #pages: readonly (PartitionPage | undefined)[];
  #keys: PartitionKeys;
  readonly #groups: CellGroups;
  readonly #wheel: ExpiryWheel;
  readonly #beat: ReplenishmentBeat;
  #generation = 0;
  #changes = 0;
  #isDisposed = false;

  constructor(options: TableOptions) {
    this.#options = options;
    this.originMs = originOf(options.clock);
    // A timeout of 0 is none at all: idle for any time is too long.
    this.idleTimeout = options.idleTimeoutMs === 0 ? 0 : toNanoseconds(options.idleTimeoutMs);
    this.#groups = new CellGroups(options.clock);
    this.#wheel = new ExpiryWheel(options.clock, this);
    this.#beat = new ReplenishmentBeat(options.clock, options.onError);
    this.#rows = new TablePages(this, this.#beat);
    this.#pages = this.#rows.list;
    this.#keys = new PartitionKeys(this.#pages);
  }

  /** How many partitions live. */
  get size(): number {
    return this.#keys.size;
  }

  /** Counts what came and went: code of others, such as a factory, may have done that to the table that it works for. */
  get changes(): number {
    return this.#changes;
  }

  read(): number {
    return readNanoseconds(this.#options.clock, this.originMs);
  }

  /** The page of a row. */
  page(row: number): PartitionPage {
    return this.#pages[pageOf(row)]!;
  }

  /** The row of a key, made where there is none or it has outlived its timeout; {@link NO_ROW} at the cap. */
  rowFor(declared: Declared, identity: unknown, now: number): number {
    const known = this.#keys.find(identity);
    if (known === NO_ROW) return this.#create(declared, identity, now);
    const page = this.page(known);
    const index = indexOf(known);
    const changes = this.#changes;
    if (page.isEvictable(index, now)) {
      // To ask it, and its end, may run code that has thrown it away or asked for the very key.
      if (changes === this.#changes) this.#forget(known);
      return this.rowFor(declared, identity, now);
    }
    if (page.generationOf(index) !== this.#generation && changes === this.#changes)
      this.#refresh(page, index, declared, identity);
    page.replenish(index);
    if (changes !== this.#changes && this.#keys.find(identity) !== known)
      return this.rowFor(declared, identity, now);
    return known;
  }

  /** The limiter of a key, for a chain; made where there is none or it has outlived its timeout; `null` at the cap. */
  limiterFor(declared: Declared, identity: unknown, instant?: Instant): AsyncRateLimiter | null {
    const now = instant === undefined ? this.read() : sinceOrigin(instant.nowMs(this.clock), this.originMs);
    const row = this.rowFor(declared, identity, now);
    return row === NO_ROW ? null : this.page(row).limiterAt(indexOf(row), declared, identity);
  }

  /** The decision on a key, made where there is none or it has outlived its timeout; `null` at the cap. */
  attempt(
    declared: Declared,
    identity: unknown,
    permits: number,
    // oxlint-disable-next-line max-params -- once per decision: they aren't worth an object
    now: number,
  ): RateLimitLease | null {
    const known = this.#keys.find(identity);
    if (known !== NO_ROW) {
      const page = this.#pages[pageOf(known)]!;
      const index = indexOf(known);
      if (page.generationOf(index) === this.#generation) {
        const lease = page.attemptUnlessIdle(index, permits, now);
        if (lease !== null) return lease;
      }
    }
    return this.#attemptAnew(declared, identity, permits, now);
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** Every partition asks for its options again: those with waiters at once, the others at their next use. */
  refresh(): void {
    this.#generation = (this.#generation + 1) & 0xffff;
    const errors: unknown[] = [];
    this.#forEach((page, index) => {
      try {
        const declared = page.declaredByWaiters(index);
        if (declared !== null) this.#refresh(page, index, declared, page.keys.keyOf(index));
      } catch (error) {
        errors.push(error);
      }
    });
    throwCollected(errors, 'Several partitions failed to refresh their options.');
  }

  /** Ends all limiters, whatever some of them throw. */
  dispose(): void {
    this.#isDisposed = true;
    this.#changes++;
    // A call whose partitioner has ended the table finds no key any more, and is told so where one would be made.
    this.#keys = new PartitionKeys(this.#pages);
    this.#wheel.stop();
    this.#beat.stop();
    const errors: unknown[] = [];
    this.#forEach((page, index) => page.end(index, (error) => errors.push(error)));
    throwCollected(errors, 'Several limiters of partitions failed to end.');
  }

  next(row: number): number {
    return this.page(row).links[indexOf(row)]!;
  }

  setNext(row: number, next: number): void {
    this.page(row).links[indexOf(row)] = next;
  }

  dueMs(row: number): number {
    if (this.#isDisposed || this.#isGone(row)) return -Infinity;
    return this.page(row).dueMs(indexOf(row), this.read());
  }

  look(row: number): number {
    const page = this.page(row);
    const index = indexOf(row);
    if (!this.#isGone(row)) {
      const now = this.read();
      const changes = this.#changes;
      if (this.#canGo(row, now, true) && changes === this.#changes) this.#forget(row);
      if (this.#isDisposed) return NaN;
      // A limiter of somebody's own may have ended itself as it was looked at.
      if (!this.#isGone(row)) return page.dueMs(index, now);
    }
    this.#rows.free(page, index);
    return NaN;
  }

  /** {@link PartitionTable.attempt} where the partition has to be made, or to be brought up to date. */
  // oxlint-disable-next-line max-params -- those of the method that it continues
  #attemptAnew(declared: Declared, identity: unknown, permits: number, now: number): RateLimitLease | null {
    const row = this.rowFor(declared, identity, now);
    return row === NO_ROW ? null : this.page(row).attempt(indexOf(row), permits, now);
  }

  #create(declared: Declared, identity: unknown, now: number): number {
    const changes = this.#changes;
    if (!this.#hasRoom()) return NO_ROW;
    if (this.#isDisposed) throw new ObjectDisposedError('PartitionedRateLimiter');
    const made = isHelperPartition(declared) ? this.#madeBy(declared) : makeLimiter(declared, this.#options);
    if (changes !== this.#changes) {
      const instead = this.#whatHappenedMeanwhile(identity, made);
      if (instead !== undefined) return instead;
    }
    this.#changes++;
    const place = { keyWidth: this.#keys.widthFor(identity), generation: this.#generation };
    const row =
      made instanceof CellGroup
        ? this.#rows.addState(made, place, now)
        : this.#rows.addLimiter(made, identity, place);
    this.#keys.add(identity, row);
    const page = this.page(row);
    const index = indexOf(row);
    this.#wheel.add(row, page.dueMs(index, now));
    if (!(page instanceof LimiterPage)) return row;
    listenForEnd(page.limiterOf(index), () => this.#onEnded(row));
    page.replenish(index);
    if (this.#isDisposed) throw new ObjectDisposedError('PartitionedRateLimiter');
    const known = this.#keys.find(identity);
    if (known === NO_ROW) throw new ObjectDisposedError(made.constructor.name); // as it was replenished
    return known;
  }

  /**
   * A factory, or a limiter that had to make room, has used the table: it may have ended it, asked for the very key, or
   * taken the last place. Then what was made is of no use. `undefined` where the key can still have its row.
   */
  #whatHappenedMeanwhile(identity: unknown, made: CellGroup | AsyncRateLimiter): number | undefined {
    const known = this.#keys.find(identity);
    if (!this.#isDisposed && known === NO_ROW && this.#hasRoom()) return undefined;
    if (!(made instanceof CellGroup)) endLimiter(made, (error) => this.#options.onError?.(error, identity));
    if (this.#isDisposed) throw new ObjectDisposedError('PartitionedRateLimiter');
    return known;
  }

  /** A limiter with a managed lifetime has ended: its partition goes at once, its row when its bucket is due. */
  #onEnded(row: number): void {
    if (!this.#isDisposed && !this.#isGone(row)) this.#forget(row);
  }

  /** Where rows of numbers are kept for such options, or a limiter where there is no such place. */
  #madeBy(declared: HelperPartition<unknown, LimiterOptions>): CellGroup | AsyncRateLimiter {
    const options = declared.options(declared.partitionKey);
    return this.#groups.groupFor(declared.kind.kind, options) ?? declared.make(options, this.#options);
  }

  #hasRoom(): boolean {
    if (this.#keys.size < this.#options.maxPartitions) return true;
    const now = this.read();
    const isWanted = (due: number): boolean => this.#isGone(due) || this.#canGo(due, now, false);
    for (let row = this.#wheel.takeDue(isWanted); row !== NO_ROW; row = this.#wheel.takeDue(isWanted)) {
      const wasGone = this.#isGone(row);
      if (!wasGone) this.#forget(row);
      this.#rows.free(this.page(row), indexOf(row));
      if (!wasGone || this.#keys.size < this.#options.maxPartitions) return true;
    }
    // One that was asked may have ended itself, or the table: that has room for whom it then tells so.
    return this.#keys.size < this.#options.maxPartitions;
  }

  #isGone(row: number): boolean {
    return !this.page(row).keys.hasKey(indexOf(row));
  }

  /** Whether a row can go, or else is to be tidied. What fails concerns nobody who comes by, and no row behind it. */
  #canGo(row: number, now: number, isTidied: boolean): boolean {
    const page = this.page(row);
    const index = indexOf(row);
    try {
      // It may have ended them all as it was asked.
      if (page.isEvictable(index, now)) return !this.#isDisposed;
      if (isTidied) page.tidy(index);
    } catch (error) {
      this.#options.onError?.(error, page.keys.keyOf(index));
    }
    return false;
  }

  #refresh(page: PartitionPage, index: number, declared: Declared, identity: unknown): void {
    try {
      page.refresh(index, declared);
      page.bringTo(index, this.#generation);
    } catch (error) {
      if (this.#options.onError === undefined) throw error;
      this.#options.onError(error, identity);
    }
  }

  /** From now on the key is unknown; then the limiter is ended, so that no call meets a disposed one. */
  #forget(row: number): void {
    const page = this.page(row);
    const index = indexOf(row);
    const { onError } = this.#options;
    const identity = onError === undefined ? undefined : page.keys.keyOf(index);
    this.#changes++;
    this.#keys.delete(row);
    page.end(index, (error) => onError?.(error, identity));
  }

  /** Every row that is in use; what comes and goes meanwhile may be among them or not. */
  #forEach(visit: (page: PartitionPage, index: number) => void): void {
    for (const page of this.#pages) {
      if (page === undefined) continue;
      for (let index = 0; index < PAGE_ROWS; index++) if (page.keys.hasKey(index)) visit(page, index);
    }
  }
}
