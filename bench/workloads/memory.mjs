// A million keys arrive, stay for a while, and leave: what they take, and how long the event loop is held meanwhile.
import { keyOf } from '../harness/keys.mjs';
import { watchTurns } from '../harness/event-loop.mjs';

const SHORTEST_WINDOW_MS = 4000;
const REHEARSAL_WINDOW_MS = 1000;
const REHEARSAL_KEYS = 10_000;
/** A key among a million costs more than one among a few, and the machine may have other things to do. */
const SPARE_TIME = 3;
const IDLE_TIMEOUT_MS = 1000;
/** So few arrive in one turn of the event loop that a longer one isn't their own doing. */
const KEYS_PER_TURN = 100;
/** The slowest sweep of a peer comes every ten seconds, or with the next window. */
const SLOWEST_SWEEP_MS = 12_000;
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
      contestants: ['bare-map', 'minimum-window', 'minimum-bucket', ...OURS, ...PEERS],
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
export async function start({ scenario: { keyCount }, contestant: id, settings: { isQuick } }) {
  const { contestant } = await import(`../contestants/rates/${id}.mjs`);
  const create = (windowMs) =>
    contestant.create({ limit: 1, windowMs, idleTimeoutMs: IDLE_TIMEOUT_MS, keyCount });
  const arriveIn = contestant.isAsync ? arriveAsync : arriveSync;
  const windowMs = isQuick
    ? REHEARSAL_WINDOW_MS
    : await findWindowMs(create(REHEARSAL_WINDOW_MS), arriveIn, keyCount);
  const leaveWithinMs = isQuick ? windowMs : Math.max(SLOWEST_SWEEP_MS, windowMs + 2000);
  const limiter = create(windowMs);

  return {
    async round() {
      const beforeBytes = usedBytes();
      const endMs = performance.now() + windowMs;
      const arriving = await watchTurns(arriveIn(limiter, keyCount));
      const areAllLive = performance.now() < endMs;
      const figures = {
        bytes: areAllLive ? (usedBytes() - beforeBytes) / keyCount : NaN,
        arriveNs: (arriving.totalMs * 1e6) / keyCount,
        arriveHeldMs: arriving.longestMs,
      };
      if (!areAllLive) console.error(`${id}: the first keys were over before the last had come.`);
      // Where nothing leaves by itself there is nothing to wait for.
      if (!areAllLive || limiter.size === undefined) return figures;

      const idle = await watchTurns(() => performance.now() > endMs);
      const lastMs = performance.now() + leaveWithinMs;
      const leaving = await watchTurns(() => limiter.size() === 0 || performance.now() > lastMs);
      const leaveMs = performance.now() - endMs;
      return {
        ...figures,
        idleHeldMs: idle.longestMs,
        leaveHeldMs: leaving.longestMs,
        leaveMs,
        leftBytes: (usedBytes() - beforeBytes) / keyCount,
      };
    },
  };
}

/** Long enough for all keys to arrive before the first is over, judging by some that arrive in a limiter of no use. */
async function findWindowMs(limiter, arriveIn, keyCount) {
  await watchTurns(arriveIn(limiter, REHEARSAL_KEYS));
  const startMs = performance.now();
  await watchTurns(arriveIn(limiter, 2 * REHEARSAL_KEYS, REHEARSAL_KEYS));
  const totalMs = performance.now() - startMs;
  return (
    Math.ceil(Math.max(SHORTEST_WINDOW_MS, (SPARE_TIME * totalMs * keyCount) / REHEARSAL_KEYS) / 1000) * 1000
  );
}

/** The keys are made when they arrive and kept by nobody else, as in a service: their bytes count. */
function arriveSync(limiter, keyCount, first = 0) {
  let next = first;
  return () => {
    const end = Math.min(next + KEYS_PER_TURN, keyCount);
    while (next < end) if (!limiter.decide(keyOf(next++))) throw new Error('A new key was refused.');
    return next === keyCount;
  };
}

function arriveAsync(limiter, keyCount, first = 0) {
  let next = first;
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
