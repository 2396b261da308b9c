import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { AccessLog } from '../log/access-log.js';
import { readAccessLog } from '../log/access-log.js';
import type { AccessLogOptions } from '../log/log-options.js';
import type { TraceEntry } from '../trace/trace-entry.js';

const GZIP_MAGIC = [0x1f, 0x8b];
/** The name that stands for it. */
export const STANDARD_INPUT = '-';

/** The log can't be read. */
export class LogReadError extends Error {
  override readonly name = 'LogReadError';
}

/** The logs of a command line, one after the other as one trace; what couldn't be read of each is counted there. */
export class LogInputs implements AsyncIterable<TraceEntry> {
  readonly logs: AccessLog[] = [];
  readonly names: readonly string[];
  readonly #options: AccessLogOptions;
  readonly #standardInput: Readable;

  constructor(files: readonly string[], options: AccessLogOptions, standardInput: Readable) {
    this.names = files.length === 0 ? [STANDARD_INPUT] : files;
    this.#options = options;
    this.#standardInput = standardInput;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TraceEntry, void, undefined> {
    for (const name of this.names) {
      const isFile = name !== STANDARD_INPUT;
      const bytes = isFile ? createReadStream(name) : this.#standardInput;
      const file = this.names.length > 1 ? shownName(name) : undefined;
      const log = readAccessLog(plain(bytes), { ...this.#options, file });
      this.logs.push(log);
      try {
        yield* log;
      } catch (error) {
        throw isOfReading(error)
          ? new LogReadError(`${shownName(name)} can't be read: ${error.message}`)
          : error;
      }
    }
  }
}

/** A log as messages call it. */
export function shownName(name: string): string {
  return name === STANDARD_INPUT ? 'standard input' : name;
}

/** File system and gzip name what went wrong with a code of their own. */
function isOfReading(error: unknown): error is Error {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === 'string' && !code.startsWith('ERR_RL_');
}

/** The bytes themselves, or what they are the gzip of: their beginning says it, whatever the name. */
async function* plain(bytes: Readable): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = (bytes as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  const first = await beginning(chunks);
  const all = rejoined(first, chunks);
  const isZipped = GZIP_MAGIC.every((byte, index) => first[index] === byte);
  yield* isZipped ? unzipped(all) : all;
}

function unzipped(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const output = new PassThrough();
  // Its failure comes out of the stream as well, where somebody listens.
  pipeline(bytes, createGunzip(), output).catch(() => undefined);
  return output;
}

/** A pipe may give a single byte first. */
async function beginning(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let bytes: Uint8Array = new Uint8Array(0);
  while (bytes.length < GZIP_MAGIC.length) {
    // oxlint-disable-next-line no-await-in-loop -- until there is enough
    const next = await chunks.next();
    if (next.done === true) break;
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value]);
  }
  return bytes;
}

async function* rejoined(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield first;
  yield* { [Symbol.asyncIterator]: () => rest };
}
