import { shown, shortened } from '../errors/shown.js';
import { SimulationError } from '../errors/simulation-error.js';
import type { TraceEntry } from '../trace/trace-entry.js';
import { CommonLineReader } from './common-line.js';
import { JsonLineReader } from './json-line.js';
import type { Chunks } from './lines.js';
import { LineSplitter } from './lines.js';
import type { AccessLogOptions } from './log-options.js';
import type { ReadEntry } from './read-entry.js';

const LISTED = 5;
const FORMATS = ['auto', 'common', 'json'];
const UNITS = ['s', 'ms', 'us', 'ns'];

/** A line that could not be read. */
export interface UnreadableLine {
  /** Counted from 1. */
  readonly line: number;
  /** Its beginning. */
  readonly text: string;
}

/** The requests of an access log, read as they are asked for, once; it counts what it can't read. */
export class AccessLog implements AsyncIterable<TraceEntry> {
  readonly #chunks: Chunks;
  readonly #options: AccessLogOptions;
  readonly #common: CommonLineReader;
  readonly #json: JsonLineReader;
  readonly #unreadable: UnreadableLine[] = [];
  #lineCount = 0;
  #unreadableCount = 0;

  /** @internal */
  constructor(chunks: Chunks, options: AccessLogOptions) {
    this.#chunks = chunks;
    this.#options = options;
    this.#common = new CommonLineReader(options.durationUnit);
    this.#json = new JsonLineReader(options);
  }

  /** How many lines were read, empty ones included. */
  get lineCount(): number {
    return this.#lineCount;
  }

  /** How many of them could not be read; empty ones have nothing to read. */
  get unreadableCount(): number {
    return this.#unreadableCount;
  }

  /** The first few of those. */
  get unreadable(): readonly UnreadableLine[] {
    return this.#unreadable;
  }

  /** The requests, as the log has them; a second time there is nothing left of a stream. */
  async *[Symbol.asyncIterator](): AsyncGenerator<TraceEntry, void, undefined> {
    const splitter = new LineSplitter();
    for await (const chunk of this.#chunks) {
      for (const line of splitter.push(chunk)) {
        const entry = this.#read(line);
        if (entry !== undefined) yield entry;
      }
    }
    for (const line of splitter.rest()) {
      const entry = this.#read(line);
      if (entry !== undefined) yield entry;
    }
  }

  #read(text: string): TraceEntry | undefined {
    const line = ++this.#lineCount;
    if (text.trim() === '') return undefined;
    const entry = this.#isJson(text) ? this.#json.read(text) : this.#common.read(text);
    if (entry !== undefined) return this.#placed(entry, line);
    this.#unreadableCount++;
    if (this.#unreadable.length < LISTED) this.#unreadable.push({ line, text: shortened(text) });
    return undefined;
  }

  #isJson(text: string): boolean {
    const { format = 'auto' } = this.#options;
    return format === 'auto' ? text.startsWith('{') : format === 'json';
  }

  #placed(entry: ReadEntry, line: number): TraceEntry {
    const { timeIs, file } = this.#options;
    if (timeIs === 'end') entry.timeMs -= entry.durationMs ?? 0;
    entry.line = line;
    entry.file = file;
    return entry;
  }
}

/**
 * Reads an access log: common or combined log format, or JSON lines.
 *
 * @param chunks - its bytes or its text, in pieces of any size: a stream, or `[text]`.
 * @throws SimulationError `ERR_RL_INVALID_OPTION` - for a format or a unit that there isn't.
 */
export function readAccessLog(chunks: Chunks, options: AccessLogOptions = {}): AccessLog {
  requireOneOf('format', options.format, FORMATS);
  requireOneOf('durationUnit', options.durationUnit, UNITS);
  requireOneOf('timeIs', options.timeIs, ['start', 'end']);
  return new AccessLog(chunks, options);
}

function requireOneOf(option: string, value: string | undefined, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw new SimulationError(
    'ERR_RL_INVALID_OPTION',
    `readAccessLog: ${option} must be one of ${allowed.join(', ')}, but got ${shown(value)}.`,
  );
}
