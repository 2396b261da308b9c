/**
 * Which scripts a server was sent the text of. A script's first call brings its text, those behind it on the same
 * connection its hash only: so no call is overtaken by others while its script is made known, and a server that has forgotten its
 * scripts is told each of them about once, however many calls are on their way.
 */
export class SentScripts {
  readonly #sendings = new Map<string, number>();
  #lastSending = 0;
  #misses = 0;

  /** How often the server did not know a script: what was sent behind one that it missed has overtaken that. */
  get misses(): number {
    return this.#misses;
  }

  /** Tells the sendings of a script's text apart; 0: there was none. */
  sendingOf(sha: string): number {
    return this.#sendings.get(sha) ?? 0;
  }

  /** The text is being sent. */
  add(sha: string): void {
    this.#sendings.set(sha, ++this.#lastSending);
  }

  /** There is a new connection, perhaps to another server: what was sent on the last may never have arrived. */
  forgetAll(): void {
    this.#sendings.clear();
  }

  /** The server does not know a script that it was sent at that time: it has forgotten all of them. */
  forgotten(sha: string, sending: number): void {
    this.#misses++;
    if (this.sendingOf(sha) === sending) this.#sendings.clear();
  }
}
