import type { ApplicationValue } from '../context/rate-limiting-context.js';
import type { RateLimitFields } from './rate-limit-fields.js';
import { seconds } from './rate-limit-fields.js';
import { rawResponse } from './raw-http.js';

/**
 * Writes the `RateLimit` fields. They go on Node's own response, which Express and Fastify both send, also for
 * streams and manual responses.
 *
 * @param isAddition - an earlier phase has written its items already.
 */
export function writeRateLimit(
  response: ApplicationValue,
  fields: RateLimitFields,
  isAddition: boolean,
): void {
  const raw = rawResponse(response);
  if (raw.headersSent || typeof raw.setHeader !== 'function') return;
  raw.setHeader(
    'RateLimit',
    isAddition ? appended(raw.getHeader('RateLimit'), fields.rateLimit) : fields.rateLimit,
  );
  const policy = fields.rateLimitPolicy;
  raw.setHeader(
    'RateLimit-Policy',
    isAddition ? appended(raw.getHeader('RateLimit-Policy'), policy) : policy,
  );
}

function appended(earlier: unknown, items: string): string {
  return typeof earlier === 'string' ? `${earlier}, ${items}` : items;
}

/** What a refused response says beside the `RateLimit` fields. */
export interface RefusalFields {
  readonly retryAfterMs: number | undefined;
  /** Ask the client to come back on another connection. */
  readonly closesConnection: boolean;
}

/** Writes the fields of a refusal. */
export function writeRefusal(
  response: ApplicationValue,
  { retryAfterMs, closesConnection }: RefusalFields,
): void {
  if (rawResponse(response).headersSent) return;
  // A shared cache must not answer one client with another's refusal (RFC 6585, section 4).
  replace(response, 'Cache-Control', 'no-store');
  if (retryAfterMs !== undefined)
    replace(response, 'Retry-After', String(Math.max(1, seconds(retryAfterMs))));
  if (closesConnection) replace(response, 'Connection', 'close');
}

/** Fastify keeps fields of its own, which would win over those of Node's response: `@Header()` sets them. */
function replace(response: ApplicationValue, name: string, value: string): void {
  const raw = rawResponse(response);
  if (raw !== response)
    (response as { removeHeader?: (name: string) => void }).removeHeader?.(name.toLowerCase());
  raw.setHeader?.(name, value);
}
