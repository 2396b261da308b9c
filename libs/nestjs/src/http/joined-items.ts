/**
 * Joins the items of a list field. They are nearly always those of the time before, and then so is their text: long
 * texts needn't be put together, and looked through, anew.
 */
export class JoinedItems {
  readonly #items: string[] = [];
  #count = 0;
  #isSame = true;
  #text = '';

  /** Adds the next item. */
  add(item: string): void {
    const at = this.#count++;
    if (this.#items[at] === item) return;
    this.#items[at] = item;
    this.#isSame = false;
  }

  /** The text of what was added since the last call. */
  take(): string {
    if (!this.#isSame || this.#items.length !== this.#count) {
      this.#items.length = this.#count;
      this.#text = this.#items.join(', ');
    }
    this.#count = 0;
    this.#isSame = true;
    return this.#text;
  }
}
