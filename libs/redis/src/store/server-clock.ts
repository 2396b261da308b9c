/** Of a cluster's clocks the one that is furthest ahead counts, as far as it was heard in this time or the one before. */
const EPOCH_MS = 10_000;

/**
 * What is known of the server's time: enough to tell a command until when it may be carried out. It errs late,
 * never early.
 */
export class ServerClock {
  readonly #hasManyClocks: boolean;
  #offsetMs = NaN;
  #beforeMs = -Infinity;
  #epochEndMs = -Infinity;
  #lastMs = 0;
  #lastText = '0';

  /** @param hasManyClocks - the servers are several, and their clocks differ. */
  constructor(hasManyClocks: boolean) {
    this.#hasManyClocks = hasManyClocks;
  }

  /** A command sent at `sentMs` was carried out when the server's time was `serverMicroseconds`. */
  learn(sentMs: number, serverMicroseconds: number): void {
    const offsetMs = serverMicroseconds / 1_000 - sentMs;
    if (!this.#hasManyClocks) this.#offsetMs = offsetMs;
    else if (sentMs < this.#epochEndMs) this.#offsetMs = Math.max(this.#offsetMs, offsetMs);
    else {
      this.#beforeMs = Number.isNaN(this.#offsetMs) ? -Infinity : this.#offsetMs;
      this.#offsetMs = offsetMs;
      this.#epochEndMs = sentMs + EPOCH_MS;
    }
  }

  /** The server's time in µs at a moment of this process' clock; 0 while unknown. */
  at(localMs: number): number {
    if (Number.isNaN(this.#offsetMs)) return 0;
    return Math.ceil((localMs + Math.max(this.#offsetMs, this.#beforeMs)) * 1_000);
  }

  /** The same as a text, up to the next whole millisecond: to write so large a number costs more than to keep it. */
  textAt(localMs: number): string {
    const ms = Math.ceil(this.at(localMs) / 1_000);
    if (ms === this.#lastMs) return this.#lastText;
    this.#lastMs = ms;
    this.#lastText = `${ms}000`;
    return this.#lastText;
  }
}
