import { Logger } from '@nestjs/common';

/** Warnings of an application, each once. */
export class Warnings {
  readonly #logger = new Logger('RateLimitingModule');
  readonly #given = new Set<string>();

  /** @param text - says what is wrong and the way out. */
  once(text: string): void {
    if (this.#given.has(text)) return;
    this.#given.add(text);
    this.#logger.warn(text);
  }
}
