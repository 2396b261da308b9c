// What a decision costs: one key after the other, each answered before the next is asked.
import { keyOf, uniformKeys, zipfKeys } from '../harness/keys.mjs';
import { prepareRounds, timePerRun } from '../harness/timing.mjs';

const PEERS = ['hitlimit', 'fastify', 'limiter', 'express', 'rate-limiter-flexible', 'throttler'];
/** Nothing comes back while it is measured. */
const WINDOW_MS = 600_000;
const DRAWS = 1_000_000;

/** @type {import('../harness/workload.mjs').Workload} */
export const workload = {
  name: 'decisions',
  title: 'Decisions',
  folder: 'rates',
  columns: [{ key: 'ns', title: 'ns per decision', digits: 0 }],
  rounds: 5,
  scenarios({ isQuick }) {
    const size = isQuick ? 20 : 1;
    return ['granted', 'refused'].flatMap((outcome) => [
      manyKeys('100,000 uniform keys', {
        kind: 'uniform',
        size: 100_000 / size,
        draws: DRAWS / size,
        outcome,
      }),
      manyKeys('100,000 uniform keys, each time a new string', {
        kind: 'uniform',
        size: 100_000 / size,
        draws: DRAWS / size,
        isNewString: true,
        outcome,
      }),
      manyKeys('1,000,000 Zipf-distributed keys', {
        kind: 'zipf',
        size: 1_000_000 / size,
        draws: DRAWS / size,
        outcome,
      }),
      oneKey({ kind: 'one', draws: 100_000, outcome }),
    ]);
  },
};

function manyKeys(name, options) {
  const goals = ['window', 'bucket'].flatMap((kind) => [
    { of: `ratelease-${kind}`, atMost: 1.4, times: `minimum-${kind}` },
    { of: `ratelease-${kind}`, aheadOf: PEERS },
  ]);
  return {
    name: `${name}, ${options.outcome}`,
    ...options,
    contestants: ['minimum-window', 'minimum-bucket', 'ratelease-window', 'ratelease-bucket', ...PEERS],
    minimum: 'minimum-window',
    minimumOf: { 'ratelease-bucket': 'minimum-bucket' },
    goals,
  };
}

function oneKey(options) {
  // The throttler keeps each granted hit of a key in a list that it copies, and bottleneck makes refused ones wait.
  const peers = [...PEERS, 'bottleneck'].filter(
    (peer) => peer !== (options.outcome === 'granted' ? 'throttler' : 'bottleneck'),
  );
  return {
    name: `one limiter without partitions, ${options.outcome}`,
    ...options,
    contestants: [
      'minimum-one-window',
      'minimum-one-bucket',
      'ratelease-one-window',
      'ratelease-one-bucket',
      ...peers,
    ],
    minimum: 'minimum-one-window',
    minimumOf: { 'ratelease-one-bucket': 'minimum-one-bucket' },
    goals: ['window', 'bucket'].map((kind) => ({
      of: `ratelease-one-${kind}`,
      atMost: 1.25,
      times: `minimum-one-${kind}`,
    })),
  };
}

/** In the process of a contestant. */
export async function start({ scenario, contestant: id, settings }) {
  const { contestant } = await import(`../contestants/rates/${id}.mjs`);
  const isGranted = scenario.outcome === 'granted';
  const keys = drawKeys(scenario);
  const limiter = contestant.create({
    limit: isGranted ? 1_000_000_000 : 1,
    windowMs: WINDOW_MS,
    // As long as the minimums and the peers keep a key: what is measured is deciding, not coming and going.
    idleTimeoutMs: WINDOW_MS,
    keyCount: scenario.size ?? 1,
  });
  const run = contestant.isAsync
    ? decideAsync(limiter, keys, contestant.atOnce ?? 1)
    : decideSync(limiter, keys);

  // With a limit of 1 all is refused once each key has been seen.
  const times = await prepareRounds(run, settings, keys.length, isGranted ? undefined : Infinity);
  return {
    async round() {
      if (scenario.isNewString) renew(keys);
      let granted = 0;
      const ns = await timePerRun(async (count) => {
        granted = await run(count);
      }, times);
      if (granted !== (isGranted ? times : 0)) throw new Error(`${granted} of ${times} were granted.`);
      return { ns };
    },
  };
}

function drawKeys({ kind, size, draws }) {
  if (kind === 'uniform') return uniformKeys(size, draws);
  if (kind === 'zipf') return zipfKeys(size, draws);
  return Array.from({ length: draws }, () => keyOf(1));
}

/**
 * The same texts in strings that nobody has seen yet, as each request brings its own: their hash isn't known, and they
 * are not the object that a map has kept. Done while nothing is measured, and what that leaves is collected.
 */
function renew(keys) {
  for (let at = 0; at < keys.length; at++) keys[at] = Buffer.from(keys[at], 'latin1').toString('latin1');
  globalThis.gc();
}

function decideSync(limiter, keys) {
  let at = 0;
  return (count) => {
    let granted = 0;
    for (let left = count; left > 0; left--) {
      if (limiter.decide(keys[at])) granted++;
      if (++at === keys.length) at = 0;
    }
    return granted;
  };
}

function decideAsync(limiter, keys, atOnce) {
  let at = 0;
  const next = () => {
    if (++at >= keys.length) at = 0;
    return limiter.decide(keys[at]);
  };
  return async (count) => {
    let granted = 0;
    if (atOnce > 1) {
      for (let left = count; left > 0; left -= atOnce) {
        const answers = await Promise.all(Array.from({ length: Math.min(left, atOnce) }, next));
        granted += answers.filter(Boolean).length;
      }
      return granted;
    }
    for (let left = count; left > 0; left--) if (await next()) granted++;
    return granted;
  };
}
