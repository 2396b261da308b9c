import type { AsyncRateLimiter } from '../../async-rate-limiter.js';
import type { CellGroup } from './cell-groups.js';
import type { PageContext } from './cell-page.js';
import { CellPage } from './cell-page.js';
import { traitsOf } from './kept-limiter.js';
import { LimiterPage } from './limiter-page.js';
import { OpenPages } from './open-pages.js';
import type { PartitionPage } from './partition-page.js';
import type { ReplenishmentBeat } from './replenishment-beat.js';
import { rowAt } from './rows.js';

/** What a new row is made for. */
export interface NewRow {
  readonly keyWidth: number;
  /** The generation of its options. */
  readonly generation: number;
}

/** The pages of a table: new ones where there is no room, none that is empty. */
export class TablePages {
  /** By their numbers. */
  readonly list: (PartitionPage | undefined)[] = [];
  readonly #freeNumbers: number[] = [];
  readonly #openLimiterPages = new OpenPages<LimiterPage>();
  readonly #context: PageContext;
  readonly #beat: ReplenishmentBeat;

  constructor(context: PageContext, beat: ReplenishmentBeat) {
    this.#context = context;
    this.#beat = beat;
  }

  /** A row of numbers, as new at `now`. */
  addState(group: CellGroup, { keyWidth, generation }: NewRow, now: number): number {
    const page = group.open.find(keyWidth) ?? this.#openCellPage(group, keyWidth);
    const index = page.occupy(generation);
    if (page.isFull) group.open.remove(page);
    page.initialize(index, now);
    return rowAt(page.number, index);
  }

  /** A row with a limiter, made for a key. */
  addLimiter(limiter: AsyncRateLimiter, key: unknown, { keyWidth, generation }: NewRow): number {
    const traits = traitsOf(limiter);
    const page = this.#openLimiterPages.find(keyWidth) ?? this.#openLimiterPage(keyWidth);
    const index = page.occupy(generation);
    if (page.isFull) this.#openLimiterPages.remove(page);
    page.keep(index, key, limiter, traits);
    return rowAt(page.number, index);
  }

  /** Frees the place of a row that stands in no bucket any more. */
  free(page: PartitionPage, index: number): void {
    const open: OpenPages<PartitionPage> =
      page instanceof CellPage ? page.group.open : this.#openLimiterPages;
    if (page.isFull) open.add(page);
    page.free(index);
    if (!page.isEmpty) return;
    open.remove(page);
    this.list[page.number] = undefined;
    this.#freeNumbers.push(page.number);
  }

  #openCellPage(group: CellGroup, keyWidth: number): CellPage {
    const page = new CellPage(this.#nextNumber(), group, keyWidth, this.#context);
    this.list[page.number] = page;
    group.open.add(page);
    return page;
  }

  #openLimiterPage(keyWidth: number): LimiterPage {
    const page = new LimiterPage(this.#nextNumber(), keyWidth, this.#context, this.#beat);
    this.list[page.number] = page;
    this.#openLimiterPages.add(page);
    return page;
  }

  #nextNumber(): number {
    return this.#freeNumbers.pop() ?? this.list.length;
  }
}
