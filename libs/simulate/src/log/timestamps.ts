const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** `10/Oct/2000:13:55:36 -0700`, with fractions of the second where the server writes them. */
const COMMON = /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2})(\.\d+)? ([+-])(\d{2})(\d{2})$/;
const HAS_ZONE = /(?:Z|[+-]\d{2}:?\d{2})$/i;
const ISO_DATE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/;
const NUMBER = /^\d+(?:\.\d+)?$/;
const MINUTE_MS = 60_000;
/** From here on a number is milliseconds since 1970: as seconds it would be the year 5138. */
const FIRST_MILLISECONDS = 1e11;

/** The time of the common log format in milliseconds since 1970, or `undefined` where the text is none. */
export function parseCommonTime(text: string): number | undefined {
  const match = COMMON.exec(text);
  if (match === null) return undefined;
  const [day, year, hour, minute, second] = [1, 3, 4, 5, 6].map((index) => Number(match[index])) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const month = MONTHS.indexOf(match[2]!);
  const [zoneHour, zoneMinute] = [Number(match[9]), Number(match[10])];
  const isTime = month >= 0 && hour < 24 && minute < 60 && second <= 60 && zoneHour < 24 && zoneMinute < 60;
  const utcMs = Date.UTC(year, month, day, hour, minute, second);
  if (!isTime || new Date(Date.UTC(year, month, day)).getUTCDate() !== day) return undefined;
  const offsetMs = (zoneHour * 60 + zoneMinute) * MINUTE_MS;
  const fractionMs = match[7] === undefined ? 0 : Number(match[7]) * 1_000;
  return utcMs + fractionMs - (match[8] === '+' ? offsetMs : -offsetMs);
}

/**
 * The time of a JSON line: a text by ISO 8601 (in UTC where it names no zone) or in the common log format, or seconds or
 * milliseconds since 1970. `undefined` where the value is none of them.
 */
export function parseTime(value: unknown): number | undefined {
  if (typeof value === 'number') return fromNumber(value);
  if (typeof value !== 'string') return undefined;
  if (NUMBER.test(value)) return fromNumber(Number(value));
  if (!ISO_DATE.test(value)) return parseCommonTime(value);
  const text = value.replace(' ', 'T').replace(/ (?=[+-])/, '');
  const ms = Date.parse(HAS_ZONE.test(text) ? text : `${text}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

function fromNumber(value: number): number | undefined {
  if (!Number.isFinite(value) || value < 0) return undefined;
  return value < FIRST_MILLISECONDS ? value * 1_000 : value;
}
