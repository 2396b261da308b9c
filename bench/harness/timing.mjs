import { readMainThreadMs } from './main-thread-clock.mjs';

/** How long a round of a contestant takes, whatever it costs: slow ones do less. */
const ROUND_MS = 150;
const QUICK_ROUND_MS = 10;
const WARM_UP_AT_MOST_MS = 4000;

/**
 * Warms up, then finds how many times a round runs.
 *
 * @param {(times: number) => unknown} run - may return a promise
 * @param {{ isQuick: boolean }} settings
 * @param {number} warmUp - how often to run before anything is measured
 * @param {number} [atMostMs] - unless that takes too long, in time of the main thread: on a busy machine code is
 * optimized late
 */
export async function prepareRounds(run, settings, warmUp, atMostMs = WARM_UP_AT_MOST_MS) {
  const step = Math.max(1, Math.ceil(warmUp / 100));
  const startMs = readMainThreadMs();
  const laps = [];
  while (laps.length * step < warmUp && readMainThreadMs() - startMs < atMostMs) {
    const lapMs = performance.now();
    await run(step);
    laps.push(performance.now() - lapMs);
  }
  // As fast as it has become; the fastest, because of the busy moments of the machine: a round that turns out longer
  // does no harm, one that is short beside a tick of the clock would mean nothing.
  const perRunMs = Math.max(Math.min(...laps.slice(-11)) / step, 1e-6);
  return Math.ceil((settings.isQuick ? QUICK_ROUND_MS : ROUND_MS) / perRunMs);
}

/** @returns {Promise<number>} nanoseconds per time */
export async function timePerRun(run, times) {
  const startMs = readMainThreadMs();
  await run(times);
  return ((readMainThreadMs() - startMs) * 1e6) / times;
}
