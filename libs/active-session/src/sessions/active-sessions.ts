import type { ExecutionContext, OnModuleDestroy } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@ratelease/limiters';
import type { RateLimitingContext } from '@ratelease/nestjs';
import type { SessionEndReason } from '../errors/active-session-error.js';
import type { ActiveSessionSettings } from '../module/active-session-options.js';
import { ACTIVE_SESSION_SETTINGS } from '../module/tokens.js';
import { handlingOf } from '../requests/handling.js';
import { RequestSessions } from '../requests/request-sessions.js';
import type { ActiveSession } from './active-session.js';
import type { OpenSessionOptions } from './active-session-group.js';
import { ActiveSessionGroup } from './active-session-group.js';

/** The living sessions of an application, by group. Inject it where sessions are opened, found and counted. */
@Injectable()
export class ActiveSessions implements OnModuleDestroy {
  /** What idle times and lifetimes are measured on. */
  readonly clock: Clock;
  readonly #settings: ActiveSessionSettings;
  readonly #groups = new Map<string, ActiveSessionGroup>();
  readonly #requests: RequestSessions;

  /** @internal */
  constructor(@Inject(ACTIVE_SESSION_SETTINGS) settings: ActiveSessionSettings) {
    this.#settings = settings;
    this.clock = settings.clock;
    this.#requests = new RequestSessions(this, settings);
  }

  /** The groups that have sessions. */
  get groups(): readonly ActiveSessionGroup[] {
    return [...this.#groups.values()];
  }

  /** A group by its id, where it has sessions. */
  group(groupId: string): ActiveSessionGroup | undefined {
    return this.#groups.get(groupId);
  }

  /** A living session. */
  find(groupId: string, sessionId: string): ActiveSession | undefined {
    return this.#groups.get(groupId)?.get(sessionId);
  }

  /**
   * Opens a session, and its group with it where it is the first.
   *
   * @param groupId - as the module's `group` makes it, or of your own.
   * @throws ActiveSessionError `ERR_RL_SESSION_EXISTS` - when a living session of the group has the name.
   */
  open(groupId: string, options: OpenSessionOptions = {}): ActiveSession {
    const known = this.#groups.get(groupId);
    if (known !== undefined) return known.open(options);
    const group = new ActiveSessionGroup(groupId, this.#settings, (ended) => this.#groups.delete(ended.id));
    this.#groups.set(groupId, group);
    return group.open(options);
  }

  /**
   * The session of a request: opened at the first look where its handler has `@OpensActiveSession()`, else the one
   * that the request names in its group. The request counts as use of the session until its response has ended.
   *
   * @param context - of a policy, or Nest's own in guards, interceptors and pipes.
   * @returns `undefined` where the request belongs to no group, or names no living session.
   */
  of(context: RateLimitingContext | ExecutionContext): ActiveSession | undefined {
    return this.#requests.of(handlingOf(context));
  }

  /** Ends all sessions. */
  async terminateAll(reason: SessionEndReason = 'terminated'): Promise<void> {
    await Promise.all(this.groups.map((group) => group.terminate(reason)));
  }

  /** Tells of an error that nobody awaits. @internal */
  report(error: unknown): void {
    this.#settings.onError(error);
  }

  /** The application ends, and all sessions with it. */
  async onModuleDestroy(): Promise<void> {
    await this.terminateAll('shutdown');
  }
}
