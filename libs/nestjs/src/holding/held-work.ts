import type { Holder } from './holder.js';

/**
 * Calls a handler, and holds for a message of a socket until the handler's promise has settled: when its client leaves,
 * Nest listens to neither any more. Elsewhere Nest goes on listening.
 */
export function runHeld(holder: Holder, run: () => unknown): unknown {
  if (holder.context.type !== 'ws') return run();
  const leave = (): void => holder.leave();
  let result: unknown;
  holder.enter();
  try {
    result = run();
    if (!isThenable(result)) {
      leave();
      return result;
    }
  } catch (error) {
    leave();
    throw error;
  }
  // Of a thenable that begins its work when it is asked, such as a query, a second asking would begin it twice.
  const settled = Promise.resolve(result);
  settled.then(leave, leave);
  return settled;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}
