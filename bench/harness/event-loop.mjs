import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Lets the event loop turn until `step`, called once a turn, says that it is done.
 *
 * @param {() => boolean | Promise<boolean>} step
 * @returns {Promise<{ totalMs: number, longestMs: number }>} the longest time from turn to turn: at most what the
 * process ran in it, so that waiting for a core on a busy machine doesn't count
 */
export async function watchTurns(step) {
  const startMs = performance.now();
  let longestMs = 0;
  let wallMs = startMs;
  let processMs = readProcessMs();
  for (;;) {
    const isDone = await step();
    const nowMs = performance.now();
    const nowProcessMs = readProcessMs();
    longestMs = Math.max(longestMs, Math.min(nowMs - wallMs, nowProcessMs - processMs));
    if (isDone) return { totalMs: nowMs - startMs, longestMs };
    wallMs = nowMs;
    processMs = nowProcessMs;
    await nextTurn();
  }
}

/** All threads of the process: more than the main thread, never less. */
function readProcessMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
