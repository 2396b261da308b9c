import type { AsyncRateLimiter } from '../async-rate-limiter.js';

/** The key under which what stands for a resource in a chain names the limiters of partitions that it asks in the end. */
export const partitionsBehind: unique symbol = Symbol.for('ratelease.partitions-behind') as never;

interface HasPartitions {
  readonly [partitionsBehind]: readonly AsyncRateLimiter[];
}

/** The limiters of partitions among those that a resource has been resolved to, those behind others too. */
export function partitionsAmong(limiters: readonly AsyncRateLimiter[]): readonly AsyncRateLimiter[] {
  return limiters.flatMap((limiter) => (hasPartitions(limiter) ? limiter[partitionsBehind] : [limiter]));
}

function hasPartitions(limiter: AsyncRateLimiter): limiter is AsyncRateLimiter & HasPartitions {
  return partitionsBehind in limiter;
}
