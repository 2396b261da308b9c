import type { PartitionPage } from './partition-page.js';

/** Pages of one kind that have room, by the width of their keys. */
export class OpenPages<TPage extends PartitionPage> {
  readonly #byWidth: TPage[][] = [];

  /** One that has room for a key of a width. */
  find(keyWidth: number): TPage | undefined {
    return this.#byWidth[keyWidth]?.at(-1);
  }

  add(page: TPage): void {
    (this.#byWidth[page.keyWidth] ??= []).push(page);
  }

  remove(page: TPage): void {
    const pages = this.#byWidth[page.keyWidth]!;
    pages.splice(pages.lastIndexOf(page), 1);
  }
}
