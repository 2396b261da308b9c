/** A request of a trace: when it came, and what policies make keys of. */
export interface TraceEntry {
  /** When it came, in milliseconds since 1970 (or from any other origin, the same for all entries); finite. */
  readonly timeMs: number;
  /** How long the work took, in milliseconds of at least 0: so long it holds the permit of a concurrency limit. */
  readonly durationMs?: number | undefined;
  /** The permits that it asks for, an integer of at least 1. @defaultValue 1 */
  readonly permitCount?: number | undefined;
  /** The client's address. */
  readonly ip?: string | undefined;
  /** Who was signed in. */
  readonly user?: string | undefined;
  /** `GET`, `POST`, … */
  readonly method?: string | undefined;
  /** The path without its query. */
  readonly path?: string | undefined;
  /** What else keys are made of, by name. */
  readonly fields?: TraceFields | undefined;
  /** Where it stands in its log, counted from 1. */
  readonly line?: number | undefined;
  /** The log it stands in. */
  readonly file?: string | undefined;
}

/** What a field of that name says, or `undefined` where there is none. */
export type TraceFields = (name: string) => string | undefined;

/** Where an entry stands, as messages say it; `number` counts the entries of the trace. */
export function placeOf({ file, line }: TraceEntry, number: number): string {
  if (line === undefined) return `entry ${number}`;
  return file === undefined ? `line ${line}` : `${file}:${line}`;
}

/** The same request at another time. Written out: there may be millions. */
export function atTime(entry: TraceEntry, timeMs: number): TraceEntry {
  const { durationMs, permitCount, ip, user, method, path, fields, line, file } = entry;
  return { timeMs, durationMs, permitCount, ip, user, method, path, fields, line, file };
}
