import type { Visit } from './stage.js';

/** What happened to a group of clients. */
export interface Figures {
  readonly asked: number;
  readonly served: number;
  readonly refused: number;
  readonly waiting: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly mostTurns: number;
  /** Of all that were served, how many of these, from 0 to 1. */
  readonly share: number;
  /**
   * How evenly its clients were served: 1 where all got the same, 1 / n where one of n got everything (the index of
   * Jain, Chiu and Hawe).
   */
  readonly fairness: number;
}

export function figuresOf(visits: readonly Visit[], group: string): Figures {
  const own = visits.filter((visit) => visit.group === group);
  const served = own.filter(({ outcome }) => outcome === 'served');
  const refused = own.filter(({ outcome }) => outcome === 'refused');
  // Who still waits at the end counts with the wait so far: starvation must not hide.
  const waits = own
    .filter(({ outcome }) => outcome !== 'refused')
    .map(({ waitedMs }) => waitedMs)
    .sort((one, other) => one - other);
  return {
    asked: own.length,
    served: served.length,
    refused: refused.length,
    waiting: own.length - served.length - refused.length,
    medianMs: quantile(waits, 0.5),
    p99Ms: quantile(waits, 0.99),
    maxMs: waits.at(-1) ?? 0,
    mostTurns: served.reduce((most, { turns }) => Math.max(most, turns), 0),
    share: served.length / Math.max(1, visits.filter(({ outcome }) => outcome === 'served').length),
    fairness: fairnessOf(own),
  };
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function fairnessOf(visits: readonly Visit[]): number {
  const perClient = new Map<number, number>();
  for (const { client, outcome } of visits) {
    perClient.set(client, (perClient.get(client) ?? 0) + (outcome === 'served' ? 1 : 0));
  }
  const counts = [...perClient.values()];
  const sum = counts.reduce((total, count) => total + count, 0);
  const squares = counts.reduce((total, count) => total + count * count, 0);
  return squares === 0 ? 1 : (sum * sum) / (counts.length * squares);
}
