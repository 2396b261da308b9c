import { stat } from 'node:fs';

const NEVER_TOLD = new Int32Array(new SharedArrayBuffer(4));

/** The process does nothing for so long, and takes no time from others. */
export function standStill(ms: number): void {
  if (ms > 0) Atomics.wait(NEVER_TOLD, 0, 0, ms);
}

/** Calls it where the handlers of requests run: among the sockets, behind which come the immediates of the turn. */
export function amongSockets<T>(run: () => T): Promise<T> {
  return new Promise((resolve) => stat('.', () => resolve(run())));
}

/** What was asked in this turn is sent with its immediates, and node-redis writes with the next ones. */
export async function written(client: string): Promise<void> {
  await new Promise(setImmediate);
  if (client === 'node-redis') await new Promise(setImmediate);
}
