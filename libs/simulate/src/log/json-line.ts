import type { AccessLogOptions, DurationUnit, LogFields } from './log-options.js';
import { toMilliseconds } from './log-options.js';
import type { ReadEntry } from './read-entry.js';
import { parseTime } from './timestamps.js';

type JsonObject = Readonly<Record<string, unknown>>;

/** Where loggers and servers write what (pino, winston, nginx, Caddy, Traefik, cloud logs), the likelier first. */
const USUAL: Readonly<Record<Exclude<keyof LogFields, 'duration'>, readonly string[]>> = {
  time: ['time', 'timestamp', 'ts', '@timestamp', 'msec', 'date', 'time_iso8601', 'time_local', 'StartUTC'],
  ip: [
    'ip',
    'remoteAddress',
    'remote_addr',
    'clientIp',
    'client_ip',
    'remote_ip',
    'req.remoteAddress',
    'request.client_ip',
    'request.remote_ip',
    'ClientHost',
    'httpRequest.remoteIp',
  ],
  user: ['user', 'userId', 'user_id', 'remote_user', 'req.user', 'ClientUsername'],
  method: [
    'method',
    'request_method',
    'req.method',
    'request.method',
    'RequestMethod',
    'httpRequest.requestMethod',
  ],
  path: [
    'path',
    'url',
    'uri',
    'request_uri',
    'req.url',
    'request.uri',
    'RequestPath',
    'httpRequest.requestUrl',
  ],
};
/** Only names that leave no doubt about the unit. */
const USUAL_DURATIONS: readonly (readonly [field: string, unit: DurationUnit])[] = [
  ['durationMs', 'ms'],
  ['duration_ms', 'ms'],
  ['responseTime', 'ms'],
  ['response_time_ms', 'ms'],
  ['request_time', 's'],
];

/** Reads lines that are JSON objects. */
export class JsonLineReader {
  readonly #fields: LogFields;
  readonly #durationUnit: DurationUnit | undefined;

  constructor({ fields = {}, durationUnit }: AccessLogOptions) {
    this.#fields = fields;
    this.#durationUnit = durationUnit;
  }

  /** `undefined` where the line is no JSON object, or has no time. */
  read(line: string): ReadEntry | undefined {
    const object = parseObject(line);
    const timeMs = object === undefined ? undefined : parseTime(this.#find(object, 'time'));
    if (object === undefined || timeMs === undefined) return undefined;
    return {
      timeMs,
      durationMs: this.#duration(object),
      ip: textOf(this.#find(object, 'ip')),
      user: textOf(this.#find(object, 'user')),
      method: textOf(this.#find(object, 'method')),
      path: textOf(this.#find(object, 'path'))?.split('?', 1)[0],
      fields: (name) => textOf(valueAt(object, name)),
      line: undefined,
      file: undefined,
    };
  }

  #find(object: JsonObject, what: Exclude<keyof LogFields, 'duration'>): unknown {
    const named = this.#fields[what];
    if (named !== undefined) return valueAt(object, named);
    for (const name of USUAL[what]) {
      const value = valueAt(object, name);
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  }

  #duration(object: JsonObject): number | undefined {
    const { duration } = this.#fields;
    if (duration !== undefined) return milliseconds(valueAt(object, duration), this.#durationUnit ?? 'ms');
    for (const [name, unit] of USUAL_DURATIONS) {
      const ms = milliseconds(valueAt(object, name), unit);
      if (ms !== undefined) return ms;
    }
    return undefined;
  }
}

function parseObject(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

/** A field by its name; one with dots may also be a way into objects. */
function valueAt(object: JsonObject, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const dot = name.indexOf('.');
  if (dot === -1) return undefined;
  const inner = object[name.slice(0, dot)];
  if (typeof inner !== 'object' || inner === null) return undefined;
  return valueAt(inner as JsonObject, name.slice(dot + 1));
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' || value === '-' ? undefined : value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'object' && value !== null && 'id' in value) return textOf(value.id);
  return undefined;
}

function milliseconds(value: unknown, unit: DurationUnit): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && number < Infinity
    ? toMilliseconds(number, unit)
    : undefined;
}
