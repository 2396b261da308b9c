// A million keys arrive, stay for a while, and leave: what they take, and how long the event loop is held meanwhile.
import { keyOf } from '../harness/keys.mjs';
import { watchTurns } from '../harness/event-loop.mjs';

const WINDOW_MS = 6000;
const IDLE_TIMEOUT_MS = 1000;
/** So few arrive in one turn of the event loop that a longer one isn't their own doing. */
const KEYS_PER_TURN = 100;
/** The slowest sweep of a peer comes every ten seconds. */
const LEAVE_WITHIN_MS = 15_000;
const PEERS = ['hitlimit', 'fastify', 'limiter', 'express', 'rate-limiter-flexible', 'throttler'];
const OURS = ['ratelease-window', 'ratelease-bucket', 'ratelease-custom'];

/** @type {import('../harness/workload.mjs').Workload} */
export const workload = {
  name: 'memory',
  title: 'A million keys',
  folder: 'rates',
  columns: [
    { key: 'bytes', title: 'bytes a key', digits: 0 },
    { key: 'arriveNs', title: 'ns per new key', digits: 0 },
    { key: 'arriveHeldMs', title: 'longest turn, ms: arriving', digits: 1 },
    { key: 'idleHeldMs', title: 'idle', digits: 1 },
    { key: 'leaveHeldMs', title: 'leaving', digits: 1 },
    { key: 'leaveMs', title: 'left after, ms', digits: 0 },
    { key: 'leftBytes', title: 'bytes a key then', digits: 0 },
  ],
  rounds: 1,
  isProcessPerRound: true,
  scenarios: ({ isQuick }) => [
    {
      name: 'all live at once',
      keyCount: isQuick ? 20_000 : 1_000_000,
      contestants: ['minimum-window', 'minimum-bucket', ...OURS, ...PEERS],
      minimum: 'minimum-window',
      minimumOf: { 'ratelease-bucket': 'minimum-bucket' },
      goals: OURS.flatMap((of) => [
        { of, column: 'bytes', atMost: of === 'ratelease-custom' ? 250 : 120 },
        { of, column: 'arriveHeldMs', atMost: 5 },
        { of, column: 'idleHeldMs', atMost: 5 },
        { of, column: 'leaveHeldMs', atMost: 5 },
        { of, column: 'leftBytes', atMost: 1 },
      ]),
    },
  ],
};

/** In the process of a contestant. */
export async function start({ scenario: { keyCount }, contestant: id }) {
  const { contestant } = await import(`../contestants/rates/${id}.mjs`);
  const limiter = contestant.create({
    limit: 10,
    windowMs: WINDOW_MS,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    keyCount,
  });
  const arrive = contestant.isAsync ? arriveAsync(limiter, keyCount) : arriveSync(limiter, keyCount);
  return {
    async round() {
      const beforeBytes = usedBytes();
      const endMs = performance.now() + WINDOW_MS;
      const arriving = await watchTurns(arrive);
      if (performance.now() > endMs) throw new Error('The first keys were over before the last had come.');
      const figures = {
        bytes: (usedBytes() - beforeBytes) / keyCount,
        arriveNs: (arriving.totalMs * 1e6) / keyCount,
        arriveHeldMs: arriving.longestMs,
      };
      // Where nothing leaves by itself there is nothing to wait for.
      if (limiter.size === undefined) return figures;

      const idle = await watchTurns(() => performance.now() > endMs);
      const lastMs = performance.now() + LEAVE_WITHIN_MS;
      const leaving = await watchTurns(() => limiter.size() === 0 || performance.now() > lastMs);
      return {
        ...figures,
        idleHeldMs: idle.longestMs,
        leaveHeldMs: leaving.longestMs,
        leaveMs: leaving.totalMs,
        leftBytes: (usedBytes() - beforeBytes) / keyCount,
      };
    },
  };
}

/** The keys are made when they arrive and kept by nobody else, as in a service: their bytes count. */
function arriveSync(limiter, keyCount) {
  let next = 0;
  return () => {
    const end = Math.min(next + KEYS_PER_TURN, keyCount);
    while (next < end) if (!limiter.decide(keyOf(next++))) throw new Error('A new key was refused.');
    return next === keyCount;
  };
}

function arriveAsync(limiter, keyCount) {
  let next = 0;
  return async () => {
    const end = Math.min(next + KEYS_PER_TURN, keyCount);
    while (next < end) if (!(await limiter.decide(keyOf(next++)))) throw new Error('A new key was refused.');
    return next === keyCount;
  };
}

function usedBytes() {
  // Twice: what finalizers let go of is collected the second time.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
