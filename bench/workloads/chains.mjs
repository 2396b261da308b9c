// What a chain of three costs beside one limiter.
import { prepareRounds, timePerRun } from '../harness/timing.mjs';

/** @type {import('../harness/workload.mjs').Workload} */
export const workload = {
  name: 'chains',
  title: 'Chains',
  folder: 'chains',
  columns: [{ key: 'ns', title: 'ns per decision', digits: 0 }],
  rounds: 9,
  scenarios: () =>
    [
      'fixed windows, granted',
      'fixed windows, refused',
      'concurrency limits, acquired and released',
      'partitions of fixed windows, granted',
      'partitions of fixed windows, refused',
    ].map((name) => ({
      name,
      contestants: ['ratelease-one', 'ratelease-chain-of-three'],
      minimum: 'ratelease-one',
      goals: [{ of: 'ratelease-chain-of-three', atMost: 3.5, times: 'ratelease-one' }],
    })),
};

/** Few enough that all is in the caches: what a chain adds is measured, not memory. */
const KEYS = Array.from({ length: 1_000 }, (_, index) => `user-${index}`);

/** In the process of a contestant. */
export async function start({ scenario: { name }, contestant: id, settings }) {
  const { contestant } = await import(`../contestants/chains/${id}.mjs`);
  const isConcurrency = name.startsWith('concurrency');
  const isRefused = name.endsWith('refused');
  const limit = isRefused ? 1 : 1_000_000_000;
  const arePartitions = name.startsWith('partitions');
  const limiter = limiterOf(contestant, name, limit);
  if (arePartitions && isRefused) for (const key of KEYS) limiter.attemptAcquire(key);
  let granted = 0;
  const runKeys = (times) => {
    granted = 0;
    for (let left = times; left > 0; left--)
      if (limiter.attemptAcquire(KEYS[left % KEYS.length]).isAcquired) granted++;
  };
  const runOne = (times) => {
    granted = 0;
    for (let left = times; left > 0; left--) {
      const lease = limiter.attemptAcquire();
      if (lease.isAcquired) granted++;
      if (isConcurrency) lease.dispose();
    }
  };
  const run = arePartitions ? runKeys : runOne;
  const times = await prepareRounds(run, settings, 200_000);
  return {
    async round() {
      const ns = await timePerRun(run, times);
      if (granted !== (isRefused ? 0 : times)) throw new Error(`${granted} of ${times} were granted.`);
      return { ns };
    },
  };
}

function limiterOf(contestant, name, limit) {
  if (name.startsWith('partitions')) return contestant.createPartitions({ limit });
  return name.startsWith('concurrency')
    ? contestant.createConcurrency({ limit })
    : contestant.createWindow({ limit });
}
