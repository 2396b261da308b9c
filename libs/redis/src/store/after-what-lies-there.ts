import { setImmediate } from 'node:timers';

/**
 * For timers that take an answer for lost: where the process stood still, they come before the answers that lie there
 * already. Those are read before `run` is called.
 */
export function afterWhatLiesThere(run: () => void): void {
  setImmediate(run);
}
