/**
 * What is known of the server's time: enough to tell a command until when it may be carried out. It errs late,
 * never early.
 */
export class ServerClock {
  #offsetMs = NaN;

  /** A command sent at `sentMs` was carried out when the server's time was `serverMicroseconds`. */
  learn(sentMs: number, serverMicroseconds: number): void {
    this.#offsetMs = serverMicroseconds / 1_000 - sentMs;
  }

  /** The server's time in µs at a moment of this process' clock; 0 while unknown. */
  at(localMs: number): number {
    return Number.isNaN(this.#offsetMs) ? 0 : Math.ceil((localMs + this.#offsetMs) * 1_000);
  }
}
