import { readMainThreadMs } from './main-thread-clock.mjs';

/** Whoever is slow does fewer. */
const AT_MOST_MS = 400;
const CYCLES_PER_LOOK = 250;

/**
 * Keeps so many waiting for so many cycles (acquire, run, release), then lets the queue run empty. Only the cycles are
 * timed.
 *
 * @param {{ run: (task: () => unknown) => Promise<unknown> }} queue
 * @param {{ limit: number, depth: number, cycles: number }} what - `limit` run at once, `depth` wait
 * @returns {Promise<number>} nanoseconds per cycle
 */
export async function keepDeep(queue, { limit, depth, cycles }) {
  let open;
  let gate = new Promise((resolve) => (open = resolve));
  let done = 0;
  let ns;
  const task = () => gate;
  const comeAgain = async () => {
    while (ns === undefined) {
      await queue.run(task);
      done++;
      if (done % CYCLES_PER_LOOK !== 0 || ns !== undefined) continue;
      if (done < cycles && performance.now() < lastMs) continue;
      ns = ((readMainThreadMs() - startMs) * 1e6) / done;
    }
  };
  const all = Promise.all(Array.from({ length: depth + limit }, comeAgain));
  const startMs = readMainThreadMs();
  const lastMs = performance.now() + AT_MOST_MS;
  gate = undefined;
  open();
  await all;
  return ns;
}
