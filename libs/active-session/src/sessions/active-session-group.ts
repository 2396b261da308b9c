import { randomUUID } from 'node:crypto';
import type { SessionEndReason } from '../errors/active-session-error.js';
import { ActiveSessionError } from '../errors/active-session-error.js';
import type { SessionSettings } from './active-session.js';
import { ActiveSession } from './active-session.js';
import { Lifespan } from './lifespan.js';
import type { SessionLifetime } from './usage-clock.js';

/** How a session is opened. */
export interface OpenSessionOptions extends Partial<SessionLifetime> {
  /** Names the session within its group. @defaultValue a random UUID */
  readonly id?: string | undefined;
}

/** The sessions that belong together: those of a user, a browser, a tenant. It ends with the last of them. */
export class ActiveSessionGroup extends Lifespan {
  /** Names the group. */
  readonly id: string;
  readonly #settings: SessionSettings;
  readonly #forgetGroup: (group: ActiveSessionGroup) => void;
  readonly #sessions = new Map<string, ActiveSession>();

  /** @internal */
  constructor(id: string, settings: SessionSettings, forgetGroup: (group: ActiveSessionGroup) => void) {
    super(settings.onError);
    this.id = id;
    this.#settings = settings;
    this.#forgetGroup = forgetGroup;
  }

  /** Its sessions, in the order of their opening. */
  get sessions(): readonly ActiveSession[] {
    return [...this.#sessions.values()];
  }

  /** A living session by its name. */
  get(sessionId: string): ActiveSession | undefined {
    return this.#sessions.get(sessionId);
  }

  /**
   * Opens a session.
   *
   * @throws SessionEndedError `ERR_RL_SESSION_ENDED` - when the group has ended.
   * @throws ActiveSessionError `ERR_RL_SESSION_EXISTS` - when a living session has the name.
   */
  open({ id = randomUUID(), idleTimeoutMs, maxLifetimeMs }: OpenSessionOptions = {}): ActiveSession {
    this.ended.throwIfAborted();
    if (this.#sessions.has(id)) {
      throw new ActiveSessionError(
        'ERR_RL_SESSION_EXISTS',
        `The group ${JSON.stringify(this.id)} has a session ${JSON.stringify(id)} already. Choose another name, or none.`,
      );
    }
    const session = new ActiveSession(this, id, {
      ...this.#settings,
      idleTimeoutMs: idleTimeoutMs ?? this.#settings.idleTimeoutMs,
      maxLifetimeMs: maxLifetimeMs ?? this.#settings.maxLifetimeMs,
    });
    this.#sessions.set(id, session);
    return session;
  }

  /** Ends all its sessions, and itself with them. */
  async terminate(reason: SessionEndReason = 'group'): Promise<void> {
    await Promise.all(this.sessions.map((session) => session.terminate(reason)));
    await this.endWith(reason);
  }

  /** @internal */
  forget(session: ActiveSession): void {
    this.#sessions.delete(session.id);
  }

  /** @internal */
  endWhenEmpty(): void {
    if (this.#sessions.size === 0) void this.endWith('group');
  }

  /** @internal */
  protected override describe(): string {
    return `The group ${JSON.stringify(this.id)} of sessions`;
  }

  /** @internal */
  protected override onEnd(): void {
    this.#forgetGroup(this);
  }

  /** @internal */
  protected override onTold(): void {
    // Nobody else is to be told.
  }
}
