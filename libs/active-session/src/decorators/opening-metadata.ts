import type { SessionLifetime } from '../sessions/usage-clock.js';

const OPENS = 'ratelease:opens-active-session';

/** What `@OpensActiveSession()` may say: how long the sessions live, where that differs from the module's. */
export interface OpensActiveSessionOptions extends Partial<SessionLifetime> {
  /**
   * `true`: the session gets the name that its request has for it, and where a session of that name lives, the
   * request belongs to it and opens none. @defaultValue false, each session gets a name of its own
   */
  readonly named?: boolean | undefined;
}

/** Notes that each request of a handler opens a session. */
export function markAsOpening(handler: object, options: OpensActiveSessionOptions): void {
  Reflect.defineMetadata(OPENS, options, handler);
}

/** The options of a handler that opens sessions. */
export function openingOf(handler: object): OpensActiveSessionOptions | undefined {
  return Reflect.getMetadata(OPENS, handler) as OpensActiveSessionOptions | undefined;
}
