/** Longer lines are no lines of a log; the rest of one is thrown away as it comes. */
const LONGEST_LINE = 1_000_000;

/** Bytes or text, in pieces of any size. */
export type Chunks = Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>;

/** Cuts chunks into lines, wherever the chunks end: in the middle of a line, of `\r\n`, of a character. */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  #begun = '';

  /** The lines that end in a chunk, without their ends. */
  push(chunk: Uint8Array | string): readonly string[] {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk, { stream: true });
    const lines = text.split('\n');
    lines[0] = this.#begun + lines[0]!;
    this.#begun = lines.pop()!;
    if (this.#begun.length > LONGEST_LINE) this.#begun = this.#begun.slice(0, LONGEST_LINE);
    return lines.map(withoutReturn);
  }

  /** The last line, where the log doesn't end with a line end. */
  rest(): readonly string[] {
    const last = this.#begun + this.#decoder.decode();
    this.#begun = '';
    return last === '' ? [] : [withoutReturn(last)];
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
