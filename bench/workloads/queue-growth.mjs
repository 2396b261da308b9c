// How the cost of the cycle acquire–run–release grows with the number of those who wait, from 1 to 100,000.
import { keepDeep } from '../harness/deep-queue.mjs';

const LIMIT = 10;
const CYCLES = 200_000;

/** @type {import('../harness/workload.mjs').Workload} */
export const workload = {
  name: 'queue-growth',
  title: 'Growth of a queue',
  folder: 'queues',
  columns: [{ key: 'ns', title: 'ns per cycle', digits: 0 }],
  rounds: 5,
  scenarios: ({ isQuick }) =>
    [1, 10, 100, 1_000, 10_000, 100_000].map((depth) => ({
      name: `${depth.toLocaleString('en')} ${depth === 1 ? 'waiter' : 'waiters'}, limit ${LIMIT}`,
      depth: isQuick ? Math.min(depth, 1_000) : depth,
      cycles: isQuick ? 2_000 : CYCLES,
      contestants: ['minimum', 'ratelease', 'cockatiel-4', 'p-limit', 'p-queue', 'async-sema', 'async-mutex'],
      minimum: 'minimum',
      goals: [],
    })),
};

/** In the process of a contestant. */
export async function start({ scenario: { depth, cycles }, contestant: id }) {
  const { contestant } = await import(`../contestants/queues/${id}.mjs`);
  const queue = contestant.create({ limit: LIMIT });
  const keep = { limit: LIMIT, depth, cycles };
  await keepDeep(queue, keep);
  return { round: async () => ({ ns: await keepDeep(queue, keep) }) };
}
