// What a decision on Redis costs: processor time of the client and of the server, each on a core of its own.
import { uniformKeys } from '../harness/keys.mjs';
import { pin } from '../harness/pin.mjs';
import { openMeter } from '../redis/meter.mjs';
import { startServer } from '../redis/server.mjs';

const SERVER_CORE = 0;
const CLIENT_CORE = 1;
const PEERS = ['rate-limiter-flexible', 'throttler-storage-redis', 'rate-limit-redis'];
const KEYS = 2_000;
/** So many times the minimum's time: 1.3 and 1.8 times its decisions per second where those of a turn go together. */
const BATCHED_AT_MOST = { 1: 1.11, 64: 0.77, 512: 0.56 };

/** @type {import('../harness/workload.mjs').Workload} */
export const workload = {
  name: 'redis',
  title: 'Redis',
  folder: 'redis',
  columns: [
    { key: 'us', title: 'µs per decision', digits: 1 },
    { key: 'thousandsPerSecond', title: 'thousand/s', digits: 1 },
    { key: 'clientUs', title: 'client, µs', digits: 1 },
    { key: 'serverUs', title: 'Redis, µs', digits: 1 },
    { key: 'commands', title: 'commands', digits: 2 },
    { key: 'bytes', title: 'bytes', digits: 0 },
    { key: 'oldBytes', title: 'grown old, bytes', digits: 0 },
  ],
  rounds: 9,
  scenarios: () => [1, 2].flatMap((limits) => [1, 64, 512].map((inFlight) => scenarioOf(limits, inFlight))),
};

function scenarioOf(limits, inFlight) {
  const buckets = limits === 1 ? ['minimum-bucket', 'ratelease-bucket'] : [];
  return {
    name: `${limits === 1 ? 'one limit' : 'two limits'}, ${inFlight} in flight`,
    limits,
    inFlight,
    contestants: ['minimum', 'ratelease', 'ratelease-single', ...buckets, ...PEERS],
    minimum: 'minimum',
    minimumOf: { 'ratelease-bucket': 'minimum-bucket' },
    goals: [...(limits === 1 ? goalsOfOne(inFlight) : goalsOfTwo(inFlight)), ...goalsOfServer()],
  };
}

function goalsOfOne(inFlight) {
  return [
    { of: 'ratelease-single', atMost: 1.11, times: 'minimum' },
    { of: 'ratelease-single', aheadOf: PEERS },
    { of: 'ratelease', atMost: BATCHED_AT_MOST[inFlight], times: 'minimum' },
    { of: 'ratelease', aheadOf: PEERS },
  ];
}

function goalsOfTwo(inFlight) {
  if (inFlight === 1) return [{ of: 'ratelease', aheadOf: PEERS }];
  return PEERS.map((peer) => ({ of: 'ratelease', atMost: 0.5, times: peer }));
}

function goalsOfServer() {
  return ['ratelease', 'ratelease-single'].map((of) => ({
    of,
    column: 'serverUs',
    atMost: 1.1,
    times: 'minimum',
  }));
}

/** In the process of a contestant. */
export async function start({ scenario: { limits, inFlight }, contestant: id, settings }) {
  const { contestant } = await import(`../contestants/redis/${id}.mjs`);
  const { port, pid } = await startServer();
  pin(pid, SERVER_CORE);
  pin(process.pid, CLIENT_CORE);
  const limiter = await contestant.open({ port, limits, limit: 1_000_000, windowMs: 600_000 });
  const meter = await openMeter(port);
  const keys = uniformKeys(KEYS, 100_000);
  const run = (decisions) => decide(limiter, keys, decisions, inFlight);
  const decisions = settings.isQuick ? 200 : inFlight === 1 ? 2_000 : 30_000;
  // Each key once, and what runs often is compiled.
  await run(settings.isQuick ? 200 : 2 * decisions);
  return {
    async round() {
      const figures = await meter.measure(decisions, () => run(decisions));
      const { clientUs, serverUs, thousandsPerSecond } = figures;
      // With one in flight each side waits for the other, and for the kernel to wake it; with many it is the clock on
      // the wall that tells whether they do.
      return { ...figures, us: inFlight === 1 ? clientUs + serverUs : 1_000 / thousandsPerSecond };
    },
  };
}

async function decide(limiter, keys, decisions, inFlight) {
  let left = decisions;
  let granted = 0;
  const one = async () => {
    while (left > 0) {
      left--;
      if (await limiter.decide(keys[left % keys.length])) granted++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  if (granted !== decisions) throw new Error(`${granted} of ${decisions} were granted.`);
}
