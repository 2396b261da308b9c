import { parseArgs } from 'node:util';
import { parseDuration } from '../policies/duration-text.js';
import { shown } from '../errors/shown.js';
import type { AccessLogOptions, DurationUnit, LogFields } from '../log/log-options.js';
import type { SimulationOptions } from '../simulation-options.js';
import type { SuggestionOptions } from '../suggestion/limit-suggestion.js';
import { UsageError } from './usage-error.js';

/** How much a limit that is looked for may refuse. */
export type SuggestFlag = Required<Pick<SuggestionOptions, 'atMost' | 'of'>>;

/** The command line, read but for the policies. */
export interface Flags {
  readonly wants: 'help' | 'version' | 'simulation';
  readonly files: readonly string[];
  readonly policies: readonly string[];
  readonly policyFile: string | undefined;
  readonly log: AccessLogOptions;
  readonly options: SimulationOptions;
  readonly json: boolean;
  readonly chart: string | undefined;
  readonly failAboveShare: number | undefined;
  readonly suggest: SuggestFlag | undefined;
}

const FIELDS = [
  'time',
  'ip',
  'user',
  'method',
  'path',
  'duration',
] as const satisfies readonly (keyof LogFields)[];

const TEXT = { type: 'string' } as const;
const SWITCH = { type: 'boolean', default: false } as const;
const OPTIONS = {
  policy: { type: 'string', short: 'p', multiple: true, default: [] as string[] },
  policies: TEXT,
  format: TEXT,
  'time-field': TEXT,
  'ip-field': TEXT,
  'user-field': TEXT,
  'method-field': TEXT,
  'path-field': TEXT,
  'duration-field': TEXT,
  'duration-unit': TEXT,
  'time-is': TEXT,
  reorder: TEXT,
  'no-spread': SWITCH,
  duration: TEXT,
  'max-wait': TEXT,
  json: SWITCH,
  chart: TEXT,
  top: TEXT,
  'fail-above': TEXT,
  suggest: TEXT,
  help: { ...SWITCH, short: 'h' },
  version: { ...SWITCH, short: 'v' },
} as const;

/** @throws UsageError - for what is no flag, and for values that can't be. */
export function readFlags(args: readonly string[]): Flags {
  const { values, positionals } = parse(args);
  const { chart } = values;
  if (chart !== undefined && !/\.(svg|html)$/i.test(chart))
    throw new UsageError(`--chart needs a file that ends in .svg or .html, but got ${shown(chart)}.`);
  return {
    wants: values.help ? 'help' : values.version ? 'version' : 'simulation',
    files: positionals,
    policies: values.policy,
    policyFile: values.policies,
    log: {
      format: oneOf('format', values.format, ['auto', 'common', 'json']),
      fields: fieldsOf(values),
      durationUnit: oneOf<DurationUnit>('duration-unit', values['duration-unit'], ['s', 'ms', 'us', 'ns']),
      timeIs: oneOf('time-is', values['time-is'], ['start', 'end']),
    },
    options: {
      durationMs: duration('duration', values.duration),
      maxWaitMs: duration('max-wait', values['max-wait']),
      reorderWindowMs: duration('reorder', values.reorder),
      spreadSeconds: !values['no-spread'],
      topKeys: whole('top', values.top),
    },
    json: values.json,
    chart,
    failAboveShare: share('fail-above', values['fail-above']),
    suggest: suggestion(values.suggest),
  };
}

// What it returns is inferred: its type says which flag is a text and which a switch.
// oxlint-disable-next-line typescript/explicit-function-return-type
function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${(error as Error).message} See --help.`);
  }
}

function fieldsOf(values: Readonly<Record<string, unknown>>): LogFields {
  return Object.fromEntries(FIELDS.map((field) => [field, values[`${field}-field`]]));
}

function oneOf<T extends string>(
  flag: string,
  value: string | undefined,
  allowed: readonly T[],
): T | undefined {
  if (value === undefined || allowed.includes(value as T)) return value as T | undefined;
  throw new UsageError(`--${flag} must be one of ${allowed.join(', ')}, but got ${shown(value)}.`);
}

function duration(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new UsageError(`--${flag} must be a time such as 250ms, 10s, 5m or 1h, but got ${shown(text)}.`);
}

function whole(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`--${flag} must be a whole number, but got ${shown(text)}.`);
}

function share(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, number] = /^(\d+(?:\.\d+)?)%$/.exec(text) ?? [];
  if (number !== undefined && Number(number) <= 100) return Number(number) / 100;
  throw new UsageError(`--${flag} must be a share such as 1%, from 0% to 100%, but got ${shown(text)}.`);
}

function suggestion(text: string | undefined): Flags['suggest'] {
  if (text === undefined) return undefined;
  const [, percentage, of] = /^\s*(\S+)(?:\s+of\s+(requests|keys))?\s*$/.exec(text) ?? [];
  if (percentage === undefined)
    throw new UsageError(`--suggest must be written '0.1%' or '1% of keys', but got ${shown(text)}.`);
  return { atMost: share('suggest', percentage)!, of: of === 'keys' ? 'keys' : 'requests' };
}
