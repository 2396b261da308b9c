import type { RateLimitLease, RateLimitQuota } from '@ratelease/limiters';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import type { PolicySet } from '../policies/policy-set.js';
import { structuredString } from './structured-string.js';

/** The response fields that browser code on another origin can read only if CORS exposes them. */
export const RATE_LIMIT_HEADERS: readonly string[] = Object.freeze([
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
]);

/** The values of the two fields; `undefined` where no limiter told anything. */
export interface RateLimitFields {
  readonly rateLimit: string;
  readonly rateLimitPolicy: string;
}

/** Structured fields know integers of at most 15 digits. */
const LARGEST_INTEGER = 999_999_999_999_999;
const MS_PER_SECOND = 1_000;

/**
 * The fields `RateLimit` and `RateLimit-Policy` of a decision, as draft-ietf-httpapi-ratelimit-headers has them:
 * a list item for each limiter, named after its policy.
 */
export function rateLimitFields(set: PolicySet, lease: RateLimitLease): RateLimitFields | undefined {
  const quota = lease.quota();
  let rateLimit = '';
  let rateLimitPolicy = '';
  for (let index = 0; index < quota.length; index++) {
    const entry = quota[index]!;
    if (entry.limit === Infinity || !policyOf(set, entry).showsQuota) continue;
    const separator = rateLimit === '' ? '' : ', ';
    const name = itemName(set, quota, index);
    rateLimit += `${separator}${name};r=${integer(entry.remaining)}${reset(entry)}`;
    rateLimitPolicy += `${separator}${name};q=${integer(entry.limit)}${unitAndWindow(entry)}`;
  }
  return rateLimit === '' ? undefined : { rateLimit, rateLimitPolicy };
}

function policyOf({ policies }: PolicySet, { member }: RateLimitQuota): CompiledPolicy {
  return policies[member] ?? policies[0];
}

/** A second limiter of the same policy needs a name of its own. */
function itemName(set: PolicySet, quota: readonly RateLimitQuota[], index: number): string {
  const policy = policyOf(set, quota[index]!);
  let number = 1;
  for (let earlier = 0; earlier < index; earlier++) if (policyOf(set, quota[earlier]!) === policy) number++;
  return number === 1 ? policy.fieldName : structuredString(`${policy.name}-${number}`);
}

function reset({ resetAfterMs }: RateLimitQuota): string {
  return resetAfterMs === undefined ? '' : `;t=${seconds(resetAfterMs)}`;
}

function unitAndWindow({ windowMs }: RateLimitQuota): string {
  return windowMs === undefined ? ';qu="concurrent-requests"' : `;w=${Math.max(1, seconds(windowMs))}`;
}

/** Whole seconds, rounded up: a client that waits as long as it is told must not come too early. */
export function seconds(ms: number): number {
  return integer(Math.ceil(ms / MS_PER_SECOND));
}

function integer(value: number): number {
  return Math.min(Math.max(0, value), LARGEST_INTEGER);
}
