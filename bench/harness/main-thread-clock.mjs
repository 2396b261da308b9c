import { openSync, readSync } from 'node:fs';

/** The slowest in common use. */
export const TICK_MS = 4;
const SCHEDULER_STATISTICS = '/proc/self/schedstat';

/**
 * Milliseconds that the main thread has run, where the system tells (Linux): on a machine that does other things too,
 * a round isn't longer because it had to wait for a core. Elsewhere the time on the wall.
 *
 * The kernel brings the count up to date at each tick, so rounds have to be much longer than that.
 */
export const readMainThreadMs = makeReader();

function makeReader() {
  let file;
  try {
    file = openSync(SCHEDULER_STATISTICS, 'r');
  } catch {
    return () => performance.now();
  }
  const text = Buffer.alloc(64);
  return () => {
    readSync(file, text, 0, text.length, 0);
    return Number(text.latin1Slice(0, text.indexOf(' '))) / 1e6;
  };
}
