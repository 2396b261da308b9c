import type { RateLimitingContextType } from '../context/rate-limiting-context.js';
import type { Holder } from './holder.js';

/**
 * Calls a handler, and holds for a message until the handler's promise has settled: when its client leaves a socket, or
 * gives a call of a microservice up, Nest listens to neither any more. Elsewhere Nest goes on listening.
 */
export function runHeld(holder: Holder, run: () => unknown): unknown {
  if (!isMessage(holder.context.type)) return run();
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

/** Whether contexts of a type are messages, by which many handlings share a connection. */
export function isMessage(type: RateLimitingContextType): boolean {
  return type === 'ws' || type === 'rpc';
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}
