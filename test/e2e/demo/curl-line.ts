/** What a line says: the requests that curl would send. */
export interface CurlCall {
  readonly method: string;
  readonly urls: readonly URL[];
  readonly headers: Readonly<Record<string, string>>;
  /** All at once, and not one after the other. */
  readonly isParallel: boolean;
  /** Curl leaves after so many seconds. */
  readonly leavesAfter: number | undefined;
}

/** The options that the lines may use. Those that only change what curl prints mean nothing to us. */
const PRINTING = new Set(['s', 'i', 'N']);

/**
 * Reads a curl line as a shell and curl would, as far as the demo's lines go; throws at everything else, so that
 * no line passes unread.
 */
export function readCurlLine(line: string): CurlCall {
  const [program, ...words] = splitWords(line);
  if (program !== 'curl') throw new Error(`Not a curl line: ${line}`);
  const urls: URL[] = [];
  const headers: Record<string, string> = {};
  let method = 'GET';
  let isParallel = false;
  let isImmediate = false;
  let leavesAfter: number | undefined;
  while (words.length > 0) {
    const word = words.shift()!;
    if (word === '-H') Object.assign(headers, readHeader(words.shift()!));
    else if (word === '-X') method = words.shift()!;
    else if (word === '-w') words.shift();
    else if (word === '-m') leavesAfter = Number(words.shift());
    else if (word === '--parallel-immediate') isImmediate = true;
    else if (word === '--no-progress-meter') continue;
    else if (/^-[a-zA-Z]+$/.test(word)) isParallel = readFlags(word) || isParallel;
    else urls.push(...globbed(word).map((text) => new URL(text)));
  }
  // Otherwise curl holds the others back until the first has answered, in the hope of one connection for all.
  if (isParallel !== isImmediate)
    throw new Error(`-Z needs --parallel-immediate, and the other way: ${line}`);
  return { method, urls, headers, isParallel, leavesAfter };
}

function splitWords(line: string): string[] {
  const words = line.match(/"[^"]*"|[^\s"]+/g) ?? [];
  return words.map((word) => {
    // Unquoted, a shell would take these for patterns, and & for the end of the command.
    if (!word.startsWith('"') && /[[\]?*&]/.test(word)) throw new Error(`Needs quotes: ${word}`);
    return word.replaceAll('"', '');
  });
}

function readFlags(word: string): boolean {
  const flags = word.slice(1).split('');
  const unknown = flags.find((flag) => flag !== 'Z' && !PRINTING.has(flag));
  if (unknown !== undefined) throw new Error(`Option that this reader doesn't know: -${unknown}`);
  return flags.includes('Z');
}

function readHeader(text: string): Record<string, string> {
  const [, name, value] = /^([\w-]+): (.+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new Error(`Not a header: ${text}`);
  return { [name]: value };
}

/** `[1-3]` stands for three requests. */
function globbed(url: string): string[] {
  const range = /\[(\d+)-(\d+)\]/.exec(url);
  if (range === null) return [url];
  const [pattern, first, last] = range;
  const count = Number(last) - Number(first) + 1;
  return Array.from({ length: count }, (_, index) => url.replace(pattern, String(Number(first) + index)));
}
