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
  const { setHeader } = raw as FieldsTarget;
  if (typeof setHeader !== 'function' || raw.headersSent) return;
  const { hasFields } = holder;
  holder.hasFields = true;
  const isReply = raw !== (response as unknown) && !holder.plan.mayRespondItself;
  const target: FieldsTarget = isReply ? response : raw;
  const [limit, policy] = NAMES;
  if (!hasFields) {
    const write = isReply ? setterOf(target) : setHeader;
    write.call(target, limit, fields.rateLimit);
    write.call(target, policy, fields.rateLimitPolicy);
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
  readonly header?: FieldSetter;
  /** Node's. */
  readonly setHeader?: FieldSetter;
}

type FieldSetter = (this: FieldsTarget, name: string, value: string) => unknown;

/** How a field is set. It is read once: see `rawRequest` for what that costs. */
function setterOf(target: FieldsTarget): FieldSetter {
  return target.setHeader ?? target.header ?? ignore;
}

function ignore(): void {
  // Neither Node's nor Fastify's.
}

function set(target: FieldsTarget, name: string, value: string): void {
  setterOf(target).call(target, name, value);
}

/**
 * Writes the fields of a refusal. An exception filter answers it, with Fastify's reply where there is one.
 *
 * @param retryAfterMs - `undefined` where nobody knows.
 */
export function writeRefusal(response: ApplicationValue, retryAfterMs: number | undefined): void {
  if (!isWritable(response)) return;
  const target = response as FieldsTarget;
  const write = setterOf(target);
  // A shared cache must not answer one client with another's refusal (RFC 6585, section 4).
  write.call(target, 'cache-control', 'no-store');
  if (retryAfterMs !== undefined)
    write.call(target, 'retry-after', String(Math.max(1, seconds(retryAfterMs))));
}

/** Asks the client to come back on another connection. */
export function closeConnection(response: ApplicationValue): void {
  if (isWritable(response)) set(response as FieldsTarget, 'connection', 'close');
}

function isWritable(response: ApplicationValue): boolean {
  const raw = rawResponse(response);
  return !raw.headersSent && typeof raw.setHeader === 'function';
}
