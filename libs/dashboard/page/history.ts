import type { PolicySnapshot, SecondRow, Snapshot } from '../src/stream/snapshot.js';

const REMEMBERED_SECONDS = 300;
const QUIET: SecondRow = [0, 0, 0, 0, 0, 0, 0];

/** The columns of a {@link SecondRow}. */
export const COLUMN = { granted: 0, refused: 1, waiting: 2, inUse: 3, p50: 4, p95: 5, max: 6 } as const;

/** Which of the columns. */
export type ColumnName = keyof typeof COLUMN;

/** A span of seconds of a policy, column by column. */
export interface Span {
  /** Seconds of Unix time, the eldest first. */
  readonly times: readonly number[];
  readonly column: (name: ColumnName) => number[];
}

/** What the stream has told: for each policy its last state and its last five minutes. */
export class History {
  readonly policies = new Map<string, PolicySnapshot>();
  readonly #rows = new Map<string, Map<number, SecondRow>>();
  #until = 0;
  /** Unix time of the server's second 0, noted once, so that the seconds stand still. */
  #origin = 0;

  /** Takes what a message tells. */
  add({ from, until, policies }: Snapshot): void {
    // The server's count has begun anew, or the page has slept: the past is another one's.
    if (this.#until === 0 || until < this.#until || until > this.#until + REMEMBERED_SECONDS)
      this.#begin(until);
    this.#until = until;
    for (const policy of policies) {
      this.policies.set(policy.policy, policy);
      const rows = this.#rowsOf(policy.policy);
      policy.seconds.forEach((row, index) => rows.set(from + index, row));
      for (const second of rows.keys()) if (second <= until - REMEMBERED_SECONDS) rows.delete(second);
    }
  }

  /** The last seconds of a policy. */
  span(policy: string, seconds: number): Span {
    const rows = this.#rowsOf(policy);
    const first = this.#until - seconds + 1;
    const chosen = Array.from({ length: seconds }, (_, index) => rows.get(first + index) ?? QUIET);
    return {
      times: chosen.map((_, index) => this.#origin + first + index),
      column: (name) => chosen.map((row) => row[COLUMN[name]]),
    };
  }

  #begin(until: number): void {
    this.policies.clear();
    this.#rows.clear();
    this.#origin = Math.floor(Date.now() / 1_000) - 1 - until;
  }

  #rowsOf(policy: string): Map<number, SecondRow> {
    let rows = this.#rows.get(policy);
    if (rows === undefined) this.#rows.set(policy, (rows = new Map()));
    return rows;
  }
}
