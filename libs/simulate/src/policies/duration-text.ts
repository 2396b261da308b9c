const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** `90s`, `1.5m`, `250ms` as milliseconds, or `undefined` where the text is none of these. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = DURATION.exec(text.trim()) ?? [];
  const ms = UNITS.find(([name]) => name === unit)?.[1];
  return ms === undefined ? undefined : Number(number) * ms;
}

/** Milliseconds in the largest unit that they are whole in: `1m`, `90s`. */
export function durationText(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, unitMs]) => ms % unitMs === 0 && ms !== 0) ?? ['ms', 1];
  return `${ms / unitMs}${unit}`;
}
