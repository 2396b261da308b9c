import type { AnyPartition } from '../context/handling-context.js';

/** The key under which a partition whose permits are counted outside of the process says where. */
const store = Symbol.for('ratelease.store');

/** Where the limiters of `@ratelease/limiters` count. */
export const IN_PROCESS = 'in this process';

/**
 * Where the permits of a partition are counted, in words; `undefined` where it doesn't tell: it has no limit, or a
 * limiter that the application makes.
 */
export function storeOf(partition: AnyPartition): string | undefined {
  const told = (partition as { readonly [store]?: unknown })[store];
  if (typeof told === 'string') return told;
  // Only partitions whose limiters the package makes can give them new numbers.
  return typeof partition.refresh === 'function' ? IN_PROCESS : undefined;
}
