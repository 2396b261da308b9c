// The cycle acquire–run–release, when the queue stays deep: whoever is done comes again.
import { keepDeep } from '../harness/deep-queue.mjs';

const LIMIT = 10;
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
  await keepDeep(queue, { limit: LIMIT, depth: depths[0], cycles });
  return {
    async round() {
      const ns = await keepDeep(queue, { limit: LIMIT, depth: depths[0], cycles });
      const deepNs = await keepDeep(queue, { limit: LIMIT, depth: depths[1], cycles });
      return { ns, deepNs, growth: deepNs / ns };
    },
  };
}
