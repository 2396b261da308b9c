import type { TraceFields } from '../trace/trace-entry.js';
import type { DurationUnit } from './log-options.js';
import { toMilliseconds } from './log-options.js';
import type { ReadEntry } from './read-entry.js';
import { parseCommonTime } from './timestamps.js';

/** `[host:port] address identity user [time] "request" status bytes …`; a quote inside the request is escaped. */
const LINE = /^(?:[^\s:]+:\d+ )?(\S+) \S+ (.+?) \[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}|-) (?:\d+|-)(.*)$/;
const REQUEST = /^([A-Z]+) (\S+)/;
const REFERER_AND_AGENT = /^ "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"/;
/** `1234`, `"0.123"`, `rt=0.123` at the end. */
const LAST_NUMBER = /[ =]"?(\d+(?:\.\d+)?)"?\s*$/;

/** Reads lines of the common and the combined log format. */
export class CommonLineReader {
  readonly #durationUnit: DurationUnit | undefined;
  /** Lines of one second have the same text for it. */
  #lastTime: { readonly text: string; readonly ms: number | undefined } = { text: '', ms: undefined };

  constructor(durationUnit: DurationUnit | undefined) {
    this.#durationUnit = durationUnit;
  }

  /** `undefined` where the line is none. */
  read(line: string): ReadEntry | undefined {
    const match = LINE.exec(line);
    const timeMs = match === null ? undefined : this.#time(match[3]!);
    if (match === null || timeMs === undefined) return undefined;
    const [, method, target] = REQUEST.exec(match[4]!) ?? [];
    const rest = match[6]!;
    return {
      timeMs,
      durationMs: this.#duration(rest),
      ip: given(match[1]!),
      user: given(match[2]!),
      method,
      path: target?.split('?', 1)[0],
      fields: fieldsOf(match[5]!, rest),
      line: undefined,
      file: undefined,
    };
  }

  #time(text: string): number | undefined {
    if (text !== this.#lastTime.text) this.#lastTime = { text, ms: parseCommonTime(text) };
    return this.#lastTime.ms;
  }

  #duration(rest: string): number | undefined {
    const number = this.#durationUnit === undefined ? undefined : LAST_NUMBER.exec(rest)?.[1];
    return number === undefined ? undefined : toMilliseconds(Number(number), this.#durationUnit!);
  }
}

function given(text: string): string | undefined {
  return text === '-' || text === '""' ? undefined : text;
}

function fieldsOf(status: string, rest: string): TraceFields {
  return (name) => {
    if (name === 'status') return given(status);
    const [, referer, agent] = REFERER_AND_AGENT.exec(rest) ?? [];
    const text = name === 'referer' ? referer : name === 'agent' ? agent : undefined;
    return text === undefined ? undefined : given(text);
  };
}
