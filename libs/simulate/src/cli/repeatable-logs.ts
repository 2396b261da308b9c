import type { Readable } from 'node:stream';
import type { Trace } from '../simulate.js';
import type { TraceEntry } from '../trace/trace-entry.js';
import type { Flags } from './flags.js';
import { LogInputs, STANDARD_INPUT } from './log-inputs.js';

/**
 * The logs of a command line, for several replays. Files are read again for each, so that memory stays as small as
 * with one; standard input can't be, and its requests are kept.
 */
export class RepeatableLogs {
  readonly #open: () => LogInputs;
  readonly #kept: readonly TraceEntry[] | undefined;
  /** What was read last. */
  inputs: LogInputs;

  private constructor(open: () => LogInputs, inputs: LogInputs, kept: readonly TraceEntry[] | undefined) {
    this.#open = open;
    this.inputs = inputs;
    this.#kept = kept;
  }

  static async of({ files, log }: Flags, standardInput: Readable): Promise<RepeatableLogs> {
    const open = (): LogInputs => new LogInputs(files, log, standardInput);
    const inputs = open();
    if (!inputs.names.includes(STANDARD_INPUT)) return new RepeatableLogs(open, inputs, undefined);
    const kept: TraceEntry[] = [];
    for await (const entry of inputs) kept.push(entry);
    return new RepeatableLogs(open, inputs, kept);
  }

  /** All requests, from the first. */
  trace(): Trace {
    if (this.#kept !== undefined) return this.#kept;
    this.inputs = this.#open();
    return this.inputs;
  }
}
