import type { AsyncRateLimiter } from '../../async-rate-limiter.js';
import { RowLimiter } from './row-limiter.js';

/**
 * The limiters of partitions that requests will come to ask once others have answered them. Partitions of all loaded
 * copies of the package look here before they go.
 */
const KEY = Symbol.for('ratelease.awaited-limiters');

const awaited = ((globalThis as Record<symbol, unknown>)[KEY] ??= new WeakMap()) as WeakMap<object, number>;

/** Whether a request will come to ask a limiter: it must not be thrown away as idle before. */
export function isAwaited(limiter: object): boolean {
  return awaited.has(limiter);
}

/** Keeps the partitions of limiters while a request asks one after the other. */
export async function whileAwaited<T>(
  limiters: readonly AsyncRateLimiter[],
  ask: () => Promise<T>,
): Promise<T> {
  const end = keepAll(limiters);
  try {
    return await ask();
  } finally {
    end();
  }
}

/** Keeps the partitions of limiters until the returned function is called. */
export function keepAll(limiters: readonly AsyncRateLimiter[]): () => void {
  const ends: (() => void)[] = [];
  const end = (): void => {
    for (const each of ends) each();
  };
  try {
    for (const limiter of limiters) ends.push(limiter instanceof RowLimiter ? limiter.keep() : keep(limiter));
  } catch (error) {
    // One of them has ended already: the others are let go at once.
    end();
    throw error;
  }
  return end;
}

function keep(limiter: object): () => void {
  awaited.set(limiter, (awaited.get(limiter) ?? 0) + 1);
  return () => {
    const left = awaited.get(limiter)! - 1;
    if (left > 0) awaited.set(limiter, left);
    else awaited.delete(limiter);
  };
}
