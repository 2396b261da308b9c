/**
 * Partitions are rows, numbered through pages of {@link PAGE_ROWS}: small enough that making a page never holds
 * the event loop, large enough that a row costs little more than its columns, and that the objects which say where the
 * columns of 100,000 rows are stay in the first cache of a core.
 */
const PAGE_BITS = 12;

/** Rows on a page. */
export const PAGE_ROWS = 1 << PAGE_BITS;

/** In the place of a row where there is none. */
export const NO_ROW = -1;

/** The number of the page that a row is on. */
export function pageOf(row: number): number {
  return row >>> PAGE_BITS;
}

/** The place of a row on its page. */
export function indexOf(row: number): number {
  return row & (PAGE_ROWS - 1);
}

/** The row at a place of a page. */
export function rowAt(page: number, index: number): number {
  return (page << PAGE_BITS) | index;
}
