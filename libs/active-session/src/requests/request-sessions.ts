import type { ActiveSessionSettings } from '../module/active-session-options.js';
import type { ActiveSession } from '../sessions/active-session.js';
import type { ActiveSessions } from '../sessions/active-sessions.js';
import { openingOf } from '../decorators/opening-metadata.js';
import type { Handling } from './handling.js';
import { ResponseWatch } from './response-watch.js';

const FOUND = Symbol.for('ratelease.found-sessions');

/**
 * The sessions that requests were found to belong to, of all applications: keyed by the request itself. Of the process,
 * so that decorators of a second loaded copy of the package find them too.
 */
const processWide = globalThis as unknown as Record<symbol, WeakMap<object, ActiveSession> | undefined>;
const found = (processWide[FOUND] ??= new WeakMap());

/** The session that a request was found to belong to; see `ActiveSessions.of`. */
export function foundSession({ identity }: Handling): ActiveSession | undefined {
  return found.get(identity);
}

/** Finds out which session a request belongs to, and keeps the session in use until the request is over. */
export class RequestSessions {
  readonly #sessions: ActiveSessions;
  readonly #settings: ActiveSessionSettings;
  readonly #watch = new ResponseWatch();

  constructor(sessions: ActiveSessions, settings: ActiveSessionSettings) {
    this.#sessions = sessions;
    this.#settings = settings;
  }

  /** What isn't found is looked for again at the next call: the user may be known by then. */
  of(handling: Handling): ActiveSession | undefined {
    const known = found.get(handling.identity);
    if (known !== undefined) return known;
    const { request, handler } = handling;
    if (typeof request !== 'object' || request === null) return undefined;
    const groupId = this.#settings.group(request);
    if (groupId === undefined) return undefined;
    const opening = handler === undefined ? undefined : openingOf(handler);
    const id = opening?.named === false ? undefined : this.#settings.session(request);
    const living = id === undefined ? undefined : this.#sessions.find(groupId, id);
    const isOpening = opening !== undefined && living === undefined;
    const session = isOpening ? this.#sessions.open(groupId, { ...opening, id }) : living;
    if (session === undefined) return undefined;
    found.set(handling.identity, session);
    this.#follow(session, handling, isOpening);
    return session;
  }

  #follow(session: ActiveSession, { request, response }: Handling, isOpening: boolean): void {
    if (response === undefined || response === null) return session.touch();
    const leave = session.enter();
    this.#watch.watch(request as object, response as object, (isAnswered) => {
      leave();
      // Whoever wanted to open it doesn't know its name.
      if (isOpening && !isAnswered) void session.terminate('failed');
    });
  }
}
