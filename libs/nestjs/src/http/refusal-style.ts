import type { RateLimitLease, RateLimitQuota } from '@ratelease/limiters';
import type { ApplicationValue } from '../context/rate-limiting-context.js';
import type { HandlingContext } from '../context/handling-context.js';
import type { PolicySet } from '../policies/policy-set.js';
import { PROBLEM_TYPE } from './problem-details.js';
import { seconds } from './policy-item.js';
import { rawResponse } from './raw-http.js';

/** What else an application wants to say in its answers. */
export interface ResponseStyle {
  /** Also `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`. */
  readonly legacyHeaders: boolean;
  /** Have CORS expose the fields to scripts of other origins. */
  readonly exposeHeaders: boolean;
}

const LEGACY = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const;
const CURRENT = ['ratelimit', 'ratelimit-policy', 'retry-after'] as const;
const EXPOSE = 'access-control-expose-headers';

/** Writes what the style asks for, beside the `RateLimit` fields. */
export function writeStyled(
  context: HandlingContext,
  style: ResponseStyle,
  { set, lease }: { set: PolicySet; lease: RateLimitLease },
): void {
  const raw = rawResponse(context.response);
  if (raw.headersSent || typeof raw.setHeader !== 'function') return;
  const target = context.response as Target;
  if (style.legacyHeaders) writeLegacy(target, set, lease);
  const { headers } = context.request as { headers?: Record<string, string | undefined> };
  if (style.exposeHeaders && headers?.origin !== undefined) expose(target, style.legacyHeaders);
}

/** Says that the body is problem details. */
export function writeProblemType(response: ApplicationValue): void {
  const target = response as Target;
  const json = target.json?.bind(target);
  if (target.setHeader === undefined || json === undefined) {
    put(target, 'content-type', PROBLEM_TYPE);
    return;
  }
  // Nest 11 on Express takes any other type than `application/json` for a mistake, and overwrites it. So it is set
  // when Nest is past that, and only where the body is problem details after all.
  target.json = function writeProblem(body) {
    if (isProblem(body)) put(target, 'content-type', PROBLEM_TYPE);
    return json(body);
  };
}

function isProblem(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'title' in body && 'status' in body;
}

/** They have room for one limit: the one that is nearest to its end, over all phases. */
function writeLegacy(target: Target, set: PolicySet, lease: RateLimitLease): void {
  const shown = lease
    .quota()
    .filter(
      ({ limit, member }) => limit !== Infinity && (set.policies[member] ?? set.policies[0]).showsQuota,
    );
  const [first, ...others] = shown;
  if (first === undefined) return;
  const nearest = others.reduce((best, entry) => (share(entry) < share(best) ? entry : best), first);
  const earlier = get(target, LEGACY[1]);
  if (earlier !== undefined && Number(earlier) < nearest.remaining) return;
  put(target, LEGACY[0], String(nearest.limit));
  put(target, LEGACY[1], String(nearest.remaining));
  if (nearest.resetAfterMs !== undefined) put(target, LEGACY[2], String(seconds(nearest.resetAfterMs)));
}

function share({ remaining, limit }: RateLimitQuota): number {
  return remaining / limit;
}

function expose(target: Target, withLegacy: boolean): void {
  const earlier = get(target, EXPOSE);
  const present = new Set((earlier ?? '').split(',').map((name) => name.trim().toLowerCase()));
  const missing = [...CURRENT, ...(withLegacy ? LEGACY : [])].filter((name) => !present.has(name));
  if (missing.length === 0) return;
  put(target, EXPOSE, [...(earlier === undefined || earlier === '' ? [] : [earlier]), ...missing].join(', '));
}

/** What Node's response and Fastify's reply have in common. */
interface Target {
  getHeader(name: string): unknown;
  header?(name: string, value: string): unknown;
  setHeader?(name: string, value: string): unknown;
  /** Express's. */
  json?(this: unknown, body: unknown): unknown;
}

function get(target: Target, name: string): string | undefined {
  const value = target.getHeader(name);
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function put(target: Target, name: string, value: string): void {
  if (target.setHeader === undefined) target.header?.(name, value);
  else target.setHeader(name, value);
}
