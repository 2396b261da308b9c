import type { SessionLifetime } from '../sessions/usage-clock.js';

const OPENS = 'ratelease:opens-active-session';

/** How long the sessions of a handler may live, where that differs from the module's. */
export type OpensActiveSessionOptions = Partial<SessionLifetime>;

/** Notes that each request of a handler opens a session. */
export function markAsOpening(handler: object, options: OpensActiveSessionOptions): void {
  Reflect.defineMetadata(OPENS, options, handler);
}

/** The options of a handler that opens sessions. */
export function openingOf(handler: object): OpensActiveSessionOptions | undefined {
  return Reflect.getMetadata(OPENS, handler) as OpensActiveSessionOptions | undefined;
}
