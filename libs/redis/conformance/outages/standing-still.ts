import { stat } from 'node:fs';

/** The process does nothing for so long. */
export function standStill(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
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
