import type { AsyncRateLimiter } from '../async-rate-limiter.js';
import { NoopRateLimiter } from '../partitioned/noop-rate-limiter.js';
import { RowLimiter } from '../partitioned/table/row-limiter.js';
import type { RateLimitLease, RateLimitQuota } from '../rate-limit-lease.js';
import { ChainRefusedLease, retryAfterOf } from './chain-refusal.js';
import { CombinedLease } from './combined-lease.js';
import type { Instant } from './instant.js';

/*
 * What most requests of a chain of partitioned limiters come to: all partitions are rows of tables, and nobody waits in
 * any. That is decided on the numbers of the rows, without participants and links, which cost more than all the rest.
 */

/** A member that decides by its numbers alone. */
type OutrightMember = RowLimiter | NoopRateLimiter;

/** Decides now, or returns `null` where it isn't so: then nothing is taken or counted, and the chain has to decide. */
export function tryDecideOutright(
  limiters: readonly AsyncRateLimiter[],
  permits: number,
  instant: Instant,
): RateLimitLease | null {
  if (!areOutright(limiters, permits)) return null;
  const refusing = firstRefusing(limiters, permits, instant);
  if (refusing === -1) return takeFromAll(limiters, permits, instant);
  return refuse(limiters, refusing, permits, instant);
}

/** The same, but `null` also where one refuses: the request may wait there. */
export function tryGrantOutright(
  limiters: readonly AsyncRateLimiter[],
  permits: number,
  instant: Instant,
): RateLimitLease | null {
  if (!areOutright(limiters, permits) || firstRefusing(limiters, permits, instant) !== -1) return null;
  return takeFromAll(limiters, permits, instant);
}

function areOutright(
  limiters: readonly AsyncRateLimiter[],
  permits: number,
): limiters is readonly OutrightMember[] {
  for (let index = 0; index < limiters.length; index++) {
    if (!isOutright(limiters[index]!, permits)) return false;
    // What takes part twice has to have enough for both.
    for (let earlier = 0; earlier < index; earlier++)
      if (areOne(limiters[earlier]!, limiters[index]!)) return false;
  }
  return true;
}

function isOutright(limiter: AsyncRateLimiter, permits: number): boolean {
  if (isRow(limiter)) return limiter.decidesOutright(permits);
  return limiter.constructor === NoopRateLimiter && !(limiter as NoopRateLimiter).isDisposed;
}

function areOne(one: AsyncRateLimiter, other: AsyncRateLimiter): boolean {
  return one === other || (isRow(one) && isRow(other) && one.page === other.page && one.at === other.at);
}

// By the constructor: `instanceof` would look for the brand of other copies of the package.
function isRow(limiter: AsyncRateLimiter): limiter is RowLimiter {
  return limiter.constructor === RowLimiter;
}

/** The index of the first member that refuses, or -1. */
function firstRefusing(limiters: readonly OutrightMember[], permits: number, instant: Instant): number {
  for (let index = 0; index < limiters.length; index++)
    if (!hasEnough(limiters[index]!, permits, instant)) return index;
  return -1;
}

function hasEnough(limiter: OutrightMember, permits: number, instant: Instant): boolean {
  if (!isRow(limiter)) {
    instant.nowMs(limiter.clock);
    return true;
  }
  const { page, at } = limiter;
  return page.hasEnough(at, permits, page.nowIn(instant));
}

function takeFromAll(limiters: readonly OutrightMember[], permits: number, instant: Instant): RateLimitLease {
  // oxlint-disable-next-line unicorn/no-new-array -- one that grows by being pushed to makes room for seventeen
  const leases = new Array<RateLimitLease>(limiters.length);
  // All clocks have been read: nothing can fail any more, or come between.
  for (let index = 0; index < limiters.length; index++)
    leases[index] = take(limiters[index]!, permits, instant);
  return new CombinedLease(leases);
}

function take(limiter: OutrightMember, permits: number, instant: Instant): RateLimitLease {
  return isRow(limiter)
    ? limiter.page.take(limiter.at, permits, limiter.page.nowIn(instant))
    : limiter.takeIn(instant);
}

/** The refusal of a member, with how all of them stand, and the longest wait among those that refuse. */
function refuse(
  limiters: readonly OutrightMember[],
  member: number,
  permits: number,
  // oxlint-disable-next-line max-params -- once per decision: they aren't worth an object
  instant: Instant,
): RateLimitLease {
  const { page, at } = limiters[member] as RowLimiter;
  const lease = page.refuse(at, permits, page.nowIn(instant));
  const quota: RateLimitQuota[] = [];
  let longest = retryAfterOf(lease);
  for (let index = 0; index < limiters.length; index++) {
    const other = limiters[index]!;
    if (!isRow(other)) continue;
    const now = other.page.nowIn(instant);
    const isRefusing = index !== member && !other.page.hasEnough(other.at, permits, now);
    quota.push(other.page.quota(other.at, now, index));
    const retryAfterMs = isRefusing ? other.page.retryAfterMs(other.at, permits, now) : undefined;
    if (retryAfterMs !== undefined) longest = Math.max(longest ?? 0, retryAfterMs);
  }
  return new ChainRefusedLease(lease, quota, { member, retryAfterOfAllMs: longest });
}
