import type { RateLimitLease, RateLimitQuota } from '@ratelease/limiters';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import type { PolicySet } from '../policies/policy-set.js';
import { integer, policyText, seconds } from './policy-item.js';
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

/**
 * The fields `RateLimit` and `RateLimit-Policy` of a decision, as draft-ietf-httpapi-ratelimit-headers has them:
 * a list item for each limiter, named after its policy.
 */
export function rateLimitFields(set: PolicySet, lease: RateLimitLease): RateLimitFields | undefined {
  const quota = lease.quota();
  if (quota.length === 1) return fieldsOfOne(set, quota[0]!);
  let rateLimit = '';
  for (let index = 0; index < quota.length; index++) {
    const entry = quota[index]!;
    const policy = policyOf(set, entry);
    if (entry.limit === Infinity || !policy.showsQuota) continue;
    const separator = rateLimit === '' ? '' : ', ';
    const number = numberInPolicy(set, quota, index);
    const name = number === 1 ? policy.fieldName : structuredString(`${policy.name}-${number}`);
    const item = number === 1 ? policy.item.of(entry) : policyText(name, entry.limit, entry.windowMs);
    rateLimit += `${separator}${name};r=${integer(entry.remaining)}${reset(entry)}`;
    set.fieldItems.add(item);
  }
  const rateLimitPolicy = set.fieldItems.take();
  return rateLimit === '' ? undefined : { rateLimit, rateLimitPolicy };
}

function fieldsOfOne(set: PolicySet, entry: RateLimitQuota): RateLimitFields | undefined {
  const policy = policyOf(set, entry);
  if (entry.limit === Infinity || !policy.showsQuota) return undefined;
  const rateLimit = `${policy.fieldName};r=${integer(entry.remaining)}${reset(entry)}`;
  return { rateLimit, rateLimitPolicy: policy.item.of(entry) };
}

function policyOf({ policies }: PolicySet, { member }: RateLimitQuota): CompiledPolicy {
  return policies[member] ?? policies[0];
}

/** A second limiter of the same policy needs a name of its own. */
function numberInPolicy(set: PolicySet, quota: readonly RateLimitQuota[], index: number): number {
  const policy = policyOf(set, quota[index]!);
  let number = 1;
  for (let earlier = 0; earlier < index; earlier++) if (policyOf(set, quota[earlier]!) === policy) number++;
  return number;
}

function reset({ resetAfterMs }: RateLimitQuota): string {
  return resetAfterMs === undefined ? '' : `;t=${seconds(resetAfterMs)}`;
}
