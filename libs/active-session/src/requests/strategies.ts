import type { ApplicationValue } from './handling.js';

/**
 * Says which group a request belongs to: a text, or `undefined` for none. It is called with the framework's
 * request (over WebSockets with the client), possibly before authentication; then it is called again later.
 */
export type GroupStrategy = (request: ApplicationValue) => string | undefined;

/** Says which session of its group a request belongs to: a text, or `undefined` for none. */
export type SessionStrategy = (request: ApplicationValue) => string | undefined;

interface ReadableRequest {
  readonly headers?: Record<string, string | string[] | undefined>;
  readonly handshake?: { readonly headers?: Record<string, string | string[] | undefined> };
  readonly params?: Record<string, unknown>;
  readonly user?: { readonly id?: unknown };
  readonly data?: { readonly user?: { readonly id?: unknown } };
  readonly sessionID?: unknown;
  readonly session?: CookieSession | null;
}

interface CookieSession {
  readonly id?: unknown;
  readonly sessionId?: unknown;
  [key: string]: unknown;
}

/** A group per authenticated user: by `request.user.id` (over socket.io also `client.data.user.id`). */
export function byUserId(): GroupStrategy {
  return (request: ReadableRequest) => spaced('user', request.user?.id ?? request.data?.user?.id);
}

/**
 * A group per value of a request header. A client can send what it likes: only use a header that was verified
 * before, by a gateway for example.
 *
 * @param name - in any case.
 */
export function bySessionHeader(name: string): GroupStrategy {
  const header = name.toLowerCase();
  return (request) => spaced(`header=${JSON.stringify(header)}`, headerOf(request, header));
}

const REMEMBERED = 'ratelease:active-session';

/**
 * A group per cookie session, of express-session, `@fastify/session` or another that has its id in
 * `request.session.id`, `request.session.sessionId` or `request.sessionID`. It writes a mark into the session, so
 * that one that is only saved when something is in it has the same id at the next request.
 */
export function byCookieSession(): GroupStrategy {
  return (request: ReadableRequest) => {
    const { session } = request;
    if (typeof session !== 'object' || session === null) return undefined;
    const groupId = spaced('cookie', request.sessionID ?? session.id ?? session.sessionId);
    if (groupId !== undefined) session[REMEMBERED] = true;
    return groupId;
  };
}

/** A session per value of a route parameter: `sessionByParam('exportId')` for `/exports/:exportId`. */
export function sessionByParam(name: string): SessionStrategy {
  return (request: ReadableRequest) => text(request.params?.[name]);
}

/** A session per value of a request header. The header only names a session; whose it may be says the group. */
export function sessionByHeader(name: string): SessionStrategy {
  const header = name.toLowerCase();
  return (request) => headerOf(request, header);
}

/** Route parameter `sessionId`, else header `active-session`. */
export const defaultSessionStrategy: SessionStrategy = (request) =>
  sessionByParam('sessionId')(request) ?? sessionByHeader('active-session')(request);

function headerOf(request: ReadableRequest, name: string): string | undefined {
  const value = (request.headers ?? request.handshake?.headers)?.[name];
  return text(Array.isArray(value) ? value[0] : value);
}

/** Ids of different kinds are never the same group. */
function spaced(space: string, id: unknown): string | undefined {
  const value = text(id);
  return value === undefined ? undefined : `${space}=${value}`;
}

function text(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (typeof value === 'number' && !Number.isNaN(value)) return String(value);
  return typeof value === 'bigint' ? String(value) : undefined;
}
