import { durationText } from '../policies/duration-text.js';

/** `12,345` */
export function countText(value: number): string {
  return value.toLocaleString('en');
}

/** `4.2%`; never 0% or 100% for what isn't none or all. */
export function shareText(share: number): string {
  if (share > 0 && share < 0.0001) return '<0.01%';
  if (share < 1 && share > 0.9999) return '>99.99%';
  return `${Number((share * 100).toPrecision(share < 0.1 ? 2 : 3))}%`;
}

/** `350ms`, `1.5s`, `2m 5s`: as exact as a reader needs it. */
export function waitText(ms: number): string {
  if (ms < 1_000) return `${Number(ms.toPrecision(3))}ms`;
  if (ms < 60_000) return `${Number((ms / 1_000).toPrecision(3))}s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  return `${Math.floor(seconds / 3_600)}h ${Math.floor((seconds % 3_600) / 60)}m`;
}

/** `2026-11-30 14:05:09Z` */
export function timeText(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.000(?=Z)/, '');
}

/** The time of day where all fits into one, else the day: for axes. */
export function axisTimeText(ms: number, stepMs: number): string {
  const text = new Date(ms).toISOString();
  if (stepMs >= 3_600_000) return `${text.slice(5, 10)} ${text.slice(11, 16)}`;
  return stepMs < 1_000 ? text.slice(11, 23) : text.slice(11, 19);
}

/** `5m a column` */
export function stepText(stepMs: number): string {
  return durationText(stepMs);
}
