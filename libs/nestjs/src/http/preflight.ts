import type { HandlingContext } from '../context/handling-context.js';

/** The question of a browser whether it may send a request: not the request itself (the Fetch standard, CORS). */
export function isPreflight({ type, request }: HandlingContext): boolean {
  if (type !== 'http' || (request as { method?: string }).method !== 'OPTIONS') return false;
  const { headers } = request as { headers: Record<string, string | undefined> };
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}
