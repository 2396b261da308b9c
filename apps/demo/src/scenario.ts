/** A command to type, and what comes of it. */
export interface Command {
  /** A line for a shell: of curl, or of Node from the top of the repository. */
  readonly line: string;
  /** What it shows. */
  readonly shows: string;
}

/** One thing to try. */
export interface Scenario {
  readonly title: string;
  /** What the limit promises, in a sentence. */
  readonly promise: string;
  /**
   * The commands that show it.
   *
   * @param url - where the demo is reached, without a slash at the end.
   */
  commands(url: string): readonly Command[];
}
