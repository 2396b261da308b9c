/**
 * One of the lists of guards or interceptors that an application runs everywhere, with ours in it. Nest reads them
 * when it builds a handler, and never again.
 */
export class AppWideList {
  readonly #list: unknown[];
  readonly #perRequest: readonly unknown[];
  readonly #own: unknown;
  #placeOfMissing = -1;

  /**
   * @param list - Nest's own list.
   * @param perRequest - those that are made per request; they run after all others.
   */
  constructor(list: unknown[], perRequest: readonly unknown[], own: unknown) {
    this.#list = list;
    this.#perRequest = perRequest;
    this.#own = own;
  }

  /** Whether ours is there. */
  get isThere(): boolean {
    return this.#index !== -1;
  }

  /** Whether something of the application's runs before ours. */
  get hasEarlier(): boolean {
    return this.#index > 0;
  }

  /** Whether something of the application's runs everywhere after ours. */
  get hasLater(): boolean {
    return this.#index < this.#list.length - 1 || this.#perRequest.length > 0;
  }

  /** Takes ours out: what is built from now on doesn't pay for it. */
  takeOut(): void {
    this.#placeOfMissing = this.#index;
    this.#list.splice(this.#placeOfMissing, 1);
  }

  /** Puts ours back into its place, if it was taken out. */
  putBack(): void {
    if (this.#placeOfMissing === -1) return;
    this.#list.splice(this.#placeOfMissing, 0, this.#own);
    this.#placeOfMissing = -1;
  }

  get #index(): number {
    return this.#list.indexOf(this.#own);
  }
}
