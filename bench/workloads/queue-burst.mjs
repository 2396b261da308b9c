// The cycle acquire–run–release, when many come at once: all but the first ten wait.
import { prepareRounds, timePerRun } from '../harness/timing.mjs';

const LIMIT = 10;
const PEERS = ['cockatiel-4', 'cockatiel-3', 'p-limit', 'p-queue', 'async-sema', 'async-mutex'];

/** @type {import('../harness/workload.mjs').Workload} */
export const workload = {
  name: 'queue-burst',
  title: 'Queue in a burst',
  folder: 'queues',
  columns: [{ key: 'ns', title: 'ns per cycle', digits: 0 }],
  rounds: 9,
  scenarios: ({ isQuick }) =>
    [true, false].map((isAsync) => ({
      name: `bursts of 10,000 ${isAsync ? 'asynchronous tasks' : 'synchronous calls'}, limit 10`,
      burst: isQuick ? 500 : 10_000,
      isAsync,
      contestants: ['minimum', 'ratelease', ...PEERS],
      minimum: 'minimum',
      goals: [
        { of: 'ratelease', atMost: 1.5, times: 'minimum' },
        { of: 'ratelease', aheadOf: PEERS },
      ],
    })),
};

/** In the process of a contestant. */
export async function start({ scenario: { burst, isAsync }, contestant: id, settings }) {
  const { contestant } = await import(`../contestants/queues/${id}.mjs`);
  const queue = contestant.create({ limit: LIMIT });
  let ran = 0;
  const task = async () => {
    ran++;
  };
  const work = () => {
    ran++;
  };
  // Who takes functions needs not know; who is acquired and released by hand needs not wait for what is done.
  const cycle = isAsync ? () => queue.run(task) : () => (queue.runSync ?? queue.run)(work);
  const runBursts = async (bursts) => {
    for (let left = bursts; left > 0; left--) {
      await Promise.all(Array.from({ length: burst }, cycle));
    }
  };
  const bursts = await prepareRounds(runBursts, settings, 30);
  return {
    async round() {
      ran = 0;
      const nsPerBurst = await timePerRun(runBursts, bursts);
      if (ran !== bursts * burst) throw new Error(`${ran} of ${bursts * burst} tasks ran.`);
      return { ns: nsPerBurst / burst };
    },
  };
}
