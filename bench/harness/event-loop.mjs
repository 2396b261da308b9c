import { setImmediate as nextTurn } from 'node:timers/promises';
import { readMainThreadMs, TICK_MS } from './main-thread-clock.mjs';

/**
 * Lets the event loop turn until `step`, called once a turn, says that it is done.
 *
 * @param {() => boolean | Promise<boolean>} step
 * @returns {Promise<{ totalMs: number, longestMs: number }>} what the main
 * thread ran in all, and the longest time from turn to turn: at most what the
 * process ran in it, so that waiting for a core on a busy machine doesn't count
 */
export async function watchTurns(step) {
  const start = readTimes();
  let longestMs = 0;
  let last = start;
  for (;;) {
    const isDone = await step();
    const now = readTimes();
    longestMs = Math.max(longestMs, heldBetween(last, now));
    if (isDone) return { totalMs: now.mainThreadMs - start.mainThreadMs, longestMs };
    last = now;
    await nextTurn();
  }
}

/** Each of the three is too much in another way: other processes, other threads, and a count that comes in ticks. */
function heldBetween(before, after) {
  return Math.min(
    after.wallMs - before.wallMs,
    after.processMs - before.processMs,
    after.mainThreadMs - before.mainThreadMs + TICK_MS,
  );
}

function readTimes() {
  const { user, system } = process.cpuUsage();
  return {
    wallMs: performance.now(),
    processMs: (user + system) / 1000,
    mainThreadMs: readMainThreadMs(),
  };
}
