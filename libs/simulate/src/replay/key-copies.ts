/**
 * One copy of each key. A key is usually a part of a line, and a part keeps the whole text alive that it was cut from:
 * with a key of each chunk, all of the log.
 */
export class KeyCopies {
  readonly #copies = new Map<string, string>();

  of(key: string): string {
    const known = this.#copies.get(key);
    if (known !== undefined) return known;
    const copy = Buffer.from(key).toString();
    // Not the same where the text is no well-formed Unicode.
    const kept = copy === key ? copy : key;
    this.#copies.set(kept, kept);
    return kept;
  }
}
