import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApplicationValue } from '../context/rate-limiting-context.js';

/** Node's own request of Express's or Fastify's. */
export function rawRequest(request: ApplicationValue): IncomingMessage {
  return ((request as { raw?: IncomingMessage }).raw ?? request) as IncomingMessage;
}

/** Node's own response of Express's or Fastify's. */
export function rawResponse(response: ApplicationValue): ServerResponse {
  return ((response as { raw?: ServerResponse }).raw ?? response) as ServerResponse;
}

/** HTTP/2 has a stream per request, whose end is the response's, and no `Connection` field. */
export function isHttp2(request: IncomingMessage): boolean {
  return request.httpVersionMajor >= 2;
}
