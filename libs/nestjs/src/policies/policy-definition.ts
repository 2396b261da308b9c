import type { Type } from '@nestjs/common';
import type { AsyncPartitionedRateLimiter } from '@ratelease/limiters';
import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import type { PolicyOptions } from './policy-options.js';
import type { IRateLimiterPolicy, Partitioner } from './rate-limiter-policy.js';
import type { SelectiveRateLimiterPolicy } from './selective-rate-limiter-policy.js';

/** A policy that exists already. */
export type PolicyInstance = IRateLimiterPolicy | SelectiveRateLimiterPolicy;

/** A class of policies, which Nest's injector makes an instance of. */
export type PolicyClass = Type<PolicyInstance>;

/** Every form in which a policy, or the global limiter, can be given. */
export type PolicyDefinition =
  | PolicyOptions
  | Partitioner
  | PolicyInstance
  | PolicyClass
  | AsyncPartitionedRateLimiter<RateLimitingContext>;

/** A class, and not a partitioner: only classes of policies have a method `getPartition`, or make a `limiter`. */
export function isPolicyClass(value: unknown): value is PolicyClass {
  if (typeof value !== 'function') return false;
  const prototype = value.prototype as Partial<IRateLimiterPolicy> | undefined;
  return typeof prototype?.getPartition === 'function' || isClass(value);
}

/** Whether a function can't be called but with `new`. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function isClass(value: Function): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value));
}

/** An object that chooses partitions. */
export function isPolicy(value: unknown): value is IRateLimiterPolicy {
  return typeof (value as Partial<IRateLimiterPolicy> | null | undefined)?.getPartition === 'function';
}

/** A policy made of a partitioned limiter. */
export function isSelectivePolicy(value: unknown): value is SelectiveRateLimiterPolicy {
  return isPartitionedLimiter((value as Partial<SelectiveRateLimiterPolicy> | null | undefined)?.limiter);
}

/** A partitioned limiter: asked for permits, and no policy. */
export function isPartitionedLimiter(
  value: unknown,
): value is AsyncPartitionedRateLimiter<RateLimitingContext> {
  return typeof (value as { acquire?: unknown } | null | undefined)?.acquire === 'function';
}
