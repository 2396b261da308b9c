import type { ApplicationValue } from '../context/rate-limiting-context.js';
import type { Holder } from '../holding/holder.js';
import type { RateLimitFields } from './rate-limit-fields.js';
import { seconds } from './policy-item.js';
import { rawResponse } from './raw-http.js';

/** In the spelling of HTTP/2, which Fastify uses everywhere: the same bytes on every platform. */
const NAMES = ['ratelimit', 'ratelimit-policy'] as const;

/**
 * Writes the `RateLimit` fields. They go on Fastify's own reply, where that is what is sent; on Node's response
 * where it isn't known who sends it: a handler that has the response may stream to it past Fastify.
 */
export function writeRateLimit(holder: Holder, fields: RateLimitFields): void {
  const response = holder.context.response as FieldsTarget;
  const raw = rawResponse(response);
  if (raw.headersSent || typeof raw.setHeader !== 'function') return;
  const { hasFields } = holder;
  holder.hasFields = true;
  const isReply = raw !== (response as unknown) && !holder.plan.mayRespondItself;
  const target: FieldsTarget = isReply ? response : raw;
  const [limit, policy] = NAMES;
  if (!hasFields) {
    set(target, limit, fields.rateLimit);
    set(target, policy, fields.rateLimitPolicy);
    return;
  }
  // An earlier phase has written its items already, perhaps before it was known who sends the response.
  const earlier = target.getHeader(limit) === undefined ? raw : target;
  set(earlier, limit, `${String(earlier.getHeader(limit))}, ${fields.rateLimit}`);
  set(earlier, policy, `${String(earlier.getHeader(policy))}, ${fields.rateLimitPolicy}`);
}

/** What Node's response and Fastify's reply have in common. */
interface FieldsTarget {
  getHeader(name: string): unknown;
  /** Fastify's. */
  header?(name: string, value: string): unknown;
  /** Node's. */
  setHeader?(name: string, value: string): unknown;
}

function set(target: FieldsTarget, name: string, value: string): void {
  if (target.setHeader === undefined) target.header?.(name, value);
  else target.setHeader(name, value);
}

/**
 * Writes the fields of a refusal. An exception filter answers it, with Fastify's reply where there is one.
 *
 * @param retryAfterMs - `undefined` where nobody knows.
 */
export function writeRefusal(response: ApplicationValue, retryAfterMs: number | undefined): void {
  if (!isWritable(response)) return;
  const target = response as FieldsTarget;
  // A shared cache must not answer one client with another's refusal (RFC 6585, section 4).
  set(target, 'cache-control', 'no-store');
  if (retryAfterMs !== undefined) set(target, 'retry-after', String(Math.max(1, seconds(retryAfterMs))));
}

/** Asks the client to come back on another connection. */
export function closeConnection(response: ApplicationValue): void {
  if (isWritable(response)) set(response as FieldsTarget, 'connection', 'close');
}

function isWritable(response: ApplicationValue): boolean {
  const raw = rawResponse(response);
  return !raw.headersSent && typeof raw.setHeader === 'function';
}
