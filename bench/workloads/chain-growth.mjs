// How the cost of a decision grows with the limiters of a chain, from 1 to 10.
import { prepareRounds, timePerRun } from '../harness/timing.mjs';

/** @type {import('../harness/workload.mjs').Workload} */
export const workload = {
  name: 'chain-growth',
  title: 'Growth of a chain',
  folder: 'chain-growth',
  columns: [{ key: 'ns', title: 'ns per decision', digits: 0 }],
  rounds: 5,
  scenarios: () =>
    [1, 2, 3, 4, 6, 8, 10].map((length) => ({
      name: `${length} ${length === 1 ? 'limiter' : 'limiters'}, all or nothing`,
      length,
      contestants: [
        'minimum-windows',
        'ratelease-windows',
        'ratelease-windows-refused',
        'ratelease-concurrency',
        'rate-limiter-flexible',
      ],
      minimum: 'minimum-windows',
      goals: [],
    })),
};

/** In the process of a contestant. */
export async function start({ scenario: { length }, contestant: id, settings }) {
  const { contestant } = await import(`../contestants/chain-growth/${id}.mjs`);
  const { decide, isRefused = false, isAsync = false } = contestant.create(length);
  let granted = 0;
  const run = isAsync
    ? async (times) => {
        granted = 0;
        for (let left = times; left > 0; left--) if (await decide()) granted++;
      }
    : (times) => {
        granted = 0;
        for (let left = times; left > 0; left--) if (decide()) granted++;
      };
  const times = await prepareRounds(run, settings, 200_000);
  return {
    async round() {
      const ns = await timePerRun(run, times);
      if (granted !== (isRefused ? 0 : times)) throw new Error(`${granted} of ${times} were granted.`);
      return { ns };
    },
  };
}
