import { IncomingMessage, ServerResponse } from 'node:http';
import type { ApplicationValue } from '../context/rate-limiting-context.js';

/**
 * Node's own request of Express's or Fastify's. Express changes the prototype of each request and response, from which
 * on V8 knows no two of them as alike: it looks up what is read of them by hand, and longest what isn't there. Asking
 * what they are costs a fraction of that.
 */
export function rawRequest(request: ApplicationValue): IncomingMessage {
  if (request instanceof IncomingMessage) return request;
  return ((request as { raw?: IncomingMessage }).raw ?? request) as IncomingMessage;
}

/** Node's own response of Express's or Fastify's. */
export function rawResponse(response: ApplicationValue): ServerResponse {
  if (response instanceof ServerResponse) return response;
  return ((response as { raw?: ServerResponse }).raw ?? response) as ServerResponse;
}

/** HTTP/2 has a stream per request, whose end is the response's, and no `Connection` field. */
export function isHttp2(request: IncomingMessage): boolean {
  return request.httpVersionMajor >= 2;
}
