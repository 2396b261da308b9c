import { simulateBigAmongSmall } from './big-among-small.js';
import type { Figures } from './figures.js';
import { figuresOf } from './figures.js';
import { simulateGreedyKey } from './greedy-key.js';
import { CHAIN_ROUTES, simulateSaturatedChains } from './saturated-chains.js';
import type { Visit } from './stage.js';

/** The simulated time. */
export const SIMULATED_MS = 10_000;

/** A table of the simulation: a row for each group of clients. */
export interface OverloadTable {
  readonly title: string;
  readonly rows: readonly { readonly name: string; readonly figures: Figures }[];
}

function rowsOf(visits: readonly Visit[], groups: readonly string[], when?: string): OverloadTable['rows'] {
  return groups.map((group) => ({
    name: when === undefined ? group : `${group}, ${when}`,
    figures: figuresOf(visits, group),
  }));
}

async function saturatedChains(ms: number): Promise<OverloadTable> {
  return { title: 'Saturated chains', rows: rowsOf(await simulateSaturatedChains(ms), CHAIN_ROUTES) };
}

async function greedyKey(ms: number): Promise<OverloadTable> {
  const among = ['patient', 'greedy'];
  const alone = await simulateGreedyKey({ isSomebodyGreedy: false, isLimitedPerKey: true }, ms);
  const perKey = await simulateGreedyKey({ isSomebodyGreedy: true, isLimitedPerKey: true }, ms);
  const together = await simulateGreedyKey({ isSomebodyGreedy: true, isLimitedPerKey: false }, ms);
  return {
    title: 'A greedy key among patient ones',
    rows: [
      ...rowsOf(alone, ['patient'], 'nobody greedy'),
      ...rowsOf(perKey, among, 'each key limited'),
      ...rowsOf(together, among, 'only the total limited'),
    ],
  };
}

async function bigAmongSmall(ms: number): Promise<OverloadTable> {
  const among = ['big', 'small'];
  const oldest = await simulateBigAmongSmall(
    { kind: 'concurrency', queueProcessingOrder: 'oldestFirst' },
    ms,
  );
  const newest = await simulateBigAmongSmall(
    { kind: 'concurrency', queueProcessingOrder: 'newestFirst' },
    ms,
  );
  const bucket = await simulateBigAmongSmall(
    { kind: 'tokenBucket', queueProcessingOrder: 'oldestFirst' },
    ms,
  );
  return {
    title: 'Big requests among small ones',
    rows: [
      ...rowsOf(oldest, among, 'concurrency'),
      ...rowsOf(bucket, among, 'token bucket'),
      ...rowsOf(newest, among, 'concurrency, newest first'),
    ],
  };
}

/** All of the simulation that has nothing to do with real time; the same figures whenever and wherever it runs. */
export async function simulateOverload(ms: number): Promise<OverloadTable[]> {
  return [await saturatedChains(ms), await greedyKey(ms), await bigAmongSmall(ms)];
}
