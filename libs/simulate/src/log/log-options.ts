/** Units in which logs write durations. */
export type DurationUnit = 's' | 'ms' | 'us' | 'ns';

/** Which fields of a JSON line say what; a dot leads into an object: `'req.url'`. */
export interface LogFields {
  /** When the request came. @defaultValue the first of `time`, `timestamp`, `ts`, `@timestamp`, … that there is */
  readonly time?: string | undefined;
  /** The client's address. @defaultValue `ip`, `remoteAddress`, `remote_addr`, … */
  readonly ip?: string | undefined;
  /** Who was signed in: a text, or an object with an `id`. @defaultValue `user`, `userId`, `remote_user`, … */
  readonly user?: string | undefined;
  /** @defaultValue `method`, `req.method`, … */
  readonly method?: string | undefined;
  /** @defaultValue `path`, `url`, `req.url`, `uri`, … */
  readonly path?: string | undefined;
  /** How long the request took; needs `durationUnit`. @defaultValue `durationMs`, `responseTime`, `request_time`, … */
  readonly duration?: string | undefined;
}

/** Options of `readAccessLog`. */
export interface AccessLogOptions {
  /**
   * `'common'`: the common and the combined log format, with or without a virtual host before the address; `'json'`: an
   * object in each line. @defaultValue `'auto'`: each line by its first character
   */
  readonly format?: 'auto' | 'common' | 'json' | undefined;
  /** Which fields of a JSON line say what. */
  readonly fields?: LogFields | undefined;
  /**
   * The unit of durations: the last number of a line of the common or combined format (`%D` is `'us'`, `%T` and nginx's
   * `$request_time` are `'s'`), or the field of a JSON line that `fields.duration` names.
   * @defaultValue lines of the common format have no duration
   */
  readonly durationUnit?: DurationUnit | undefined;
  /** What the time of a line is: Apache writes when a request came, nginx when it was done. @defaultValue `'start'` */
  readonly timeIs?: 'start' | 'end' | undefined;
  /** What the log is called in reports. */
  readonly file?: string | undefined;
}

const MS_OF_UNIT: Readonly<Record<DurationUnit, number>> = { s: 1_000, ms: 1, us: 1e-3, ns: 1e-6 };

/** A duration in milliseconds. */
export function toMilliseconds(value: number, unit: DurationUnit): number {
  return value * MS_OF_UNIT[unit];
}
