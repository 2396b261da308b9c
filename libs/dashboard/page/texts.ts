const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** A number as short as it is readable. */
export function numberText(value: number): string {
  return value < 10_000 ? plain.format(value) : compact.format(value);
}

/** A duration with the two units that matter. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${plain.format(ms)} ms`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 10) return `${plain.format(ms / 1_000)} s`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** A time of the day. */
export function timeText(unixSeconds: number): string {
  return clock.format(unixSeconds * 1_000);
}

/** "1 key", "2 keys". */
export function countText(count: number, one: string): string {
  return `${numberText(count)} ${one}${count === 1 ? '' : 's'}`;
}
