// The cycle acquire–run–release, when the queue stays deep: whoever is done comes again.
import { readMainThreadMs } from '../harness/main-thread-clock.mjs';

const LIMIT = 10;
/** Whoever is slow does fewer. */
const AT_MOST_MS = 400;
const CYCLES_PER_LOOK = 250;
const PEERS = ['cockatiel-4', 'cockatiel-3', 'p-limit', 'p-queue', 'async-sema', 'async-mutex'];

/** @type {import('../harness/workload.mjs').Workload} */
export const workload = {
  name: 'queue-deep',
  title: 'Queue kept deep',
  folder: 'queues',
  columns: [
    { key: 'ns', title: 'ns per cycle', digits: 0 },
    { key: 'deepNs', title: 'ns, 5 times as deep', digits: 0 },
    { key: 'growth', title: 'growth', digits: 2 },
  ],
  rounds: 5,
  scenarios: ({ isQuick }) => [
    {
      name: '10,000 and 50,000 deep, limit 10',
      depths: isQuick ? [500, 2500] : [10_000, 50_000],
      cycles: isQuick ? 2000 : 100_000,
      contestants: ['minimum', 'ratelease', ...PEERS],
      minimum: 'minimum',
      goals: [
        { of: 'ratelease', aheadOf: PEERS },
        { of: 'ratelease', column: 'growth', atMost: 2 },
      ],
    },
  ],
};

/** In the process of a contestant. */
export async function start({ scenario: { depths, cycles }, contestant: id }) {
  const { contestant } = await import(`../contestants/queues/${id}.mjs`);
  const queue = contestant.create({ limit: LIMIT });
  await keepDeep(queue, depths[0], cycles);
  return {
    async round() {
      const ns = await keepDeep(queue, depths[0], cycles);
      const deepNs = await keepDeep(queue, depths[1], cycles);
      return { ns, deepNs, growth: deepNs / ns };
    },
  };
}

/** Keeps so many waiting for so many cycles, then lets the queue run empty. Only the cycles are timed. */
async function keepDeep(queue, depth, cycles) {
  let open;
  let gate = new Promise((resolve) => (open = resolve));
  let done = 0;
  let ns;
  const task = () => gate;
  const comeAgain = async () => {
    while (ns === undefined) {
      await queue.run(task);
      done++;
      if (done % CYCLES_PER_LOOK !== 0 || ns !== undefined) continue;
      if (done < cycles && performance.now() < lastMs) continue;
      ns = ((readMainThreadMs() - startMs) * 1e6) / done;
    }
  };
  const all = Promise.all(Array.from({ length: depth + LIMIT }, comeAgain));
  const startMs = readMainThreadMs();
  const lastMs = performance.now() + AT_MOST_MS;
  gate = undefined;
  open();
  await all;
  return ns;
}
