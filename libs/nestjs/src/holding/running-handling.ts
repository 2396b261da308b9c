import { AsyncLocalStorage } from 'node:async_hooks';
import type { Holder } from './holder.js';

const RUNNING = Symbol.for('ratelease.running-handling');

/**
 * The handling that runs, for methods that hold for it, or take permits after pipes: Nest passes them only their
 * arguments. It is the process's: what is made per request is of no application that could be told from outside.
 */
export function runningHandling(): AsyncLocalStorage<Holder> {
  const shared = globalThis as unknown as Record<symbol, AsyncLocalStorage<Holder> | undefined>;
  return (shared[RUNNING] ??= new AsyncLocalStorage());
}
