// How the cost of a decision grows with the number of keys, from 1 to a million.
export { start } from './decisions.mjs';

const CONTESTANTS = [
  'minimum-window',
  'ratelease-window',
  'ratelease-bucket',
  'hitlimit',
  'express',
  'rate-limiter-flexible',
];
const DRAWS = 1_000_000;

/** @type {import('../harness/workload.mjs').Workload} */
export const workload = {
  name: 'growth',
  title: 'Growth',
  folder: 'rates',
  columns: [{ key: 'ns', title: 'ns per decision', digits: 0 }],
  rounds: 5,
  scenarios: ({ isQuick }) =>
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000].map((keys) => ({
      name: `${keys.toLocaleString('en')} ${keys === 1 ? 'key' : 'keys'}, uniform, granted`,
      kind: 'uniform',
      size: isQuick ? Math.min(keys, 1_000) : keys,
      draws: isQuick ? 10_000 : DRAWS,
      outcome: 'granted',
      contestants: CONTESTANTS,
      minimum: 'minimum-window',
      goals: [],
    })),
};
