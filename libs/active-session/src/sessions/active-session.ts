import type { Clock } from '@ratelease/limiters';
import type { SessionEndReason } from '../errors/active-session-error.js';
import type { ActiveSessionGroup } from './active-session-group.js';
import type { Work } from './background-work.js';
import { BackgroundWork } from './background-work.js';
import type { SessionErrorHandler } from './lifespan.js';
import { Lifespan } from './lifespan.js';
import type { SessionLifetime } from './usage-clock.js';
import { UsageClock } from './usage-clock.js';

/** Work of any kind. */
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyWork = BackgroundWork<any, any>;

/** What all sessions of an application have in common. */
export interface SessionSettings extends SessionLifetime {
  readonly clock: Clock;
  readonly workGraceMs: number;
  readonly onError: SessionErrorHandler;
}

/**
 * Something long-lived that many requests share: an export, an upload, a wizard. It lives from its opening until
 * it is terminated, idle for too long or too old.
 */
export class ActiveSession extends Lifespan {
  /** Names it within its group. */
  readonly id: string;
  /** The group it belongs to. */
  readonly group: ActiveSessionGroup;
  /** When it was opened, on the clock of the sessions. */
  readonly openedAtMs: number;
  readonly #settings: SessionSettings;
  readonly #usage: UsageClock;
  readonly #works = new Set<AnyWork>();
  readonly #leaveListeners = new Set<() => void>();

  /** @internal */
  constructor(group: ActiveSessionGroup, id: string, settings: SessionSettings) {
    super(settings.onError);
    this.group = group;
    this.id = id;
    this.openedAtMs = settings.clock.now();
    this.#settings = settings;
    this.#usage = new UsageClock(settings.clock, settings, (reason) => void this.endWith(reason));
  }

  /** The work that runs in it. */
  get works(): readonly AnyWork[] {
    return [...this.#works];
  }

  /** It is in use at this moment: its idle time begins anew. Requests do so by themselves. */
  touch(): void {
    this.#usage.enter();
    this.#usage.leave();
  }

  /**
   * Starts work that belongs to the session: it goes on when the request that started it is over, and is told to
   * end when the session ends.
   *
   * @throws SessionEndedError `ERR_RL_SESSION_ENDED` - after the end.
   */
  startWork<T, TProgress = unknown>(work: Work<T, TProgress>): BackgroundWork<T, TProgress> {
    this.ended.throwIfAborted();
    const started = new BackgroundWork(work);
    this.#works.add(started);
    this.#usage.enter();
    const over = (): void => {
      this.#works.delete(started);
      this.#usage.leave();
    };
    started.result.then(over, over);
    return started;
  }

  /**
   * Ends the session. At once it can't be found any more, its end signal aborts and its permits go back; what it
   * owns is disposed when its work has come to an end, or hasn't within the grace.
   *
   * @returns a promise for the moment when everything is over; it never rejects.
   */
  terminate(reason: SessionEndReason = 'terminated'): Promise<void> {
    return this.endWith(reason);
  }

  /** A request begins to use it. Returns what is to be called, once, at the request's end. @internal */
  enter(): () => void {
    this.#usage.enter();
    return () => {
      this.#usage.leave();
      for (const listener of this.#leaveListeners) listener();
    };
  }

  /** Calls the listener whenever a request that used the session is over. @internal */
  onLeave(listener: () => void): void {
    this.#leaveListeners.add(listener);
  }

  /** @internal */
  protected override describe(): string {
    return `The session ${JSON.stringify(this.id)} of the group ${JSON.stringify(this.group.id)}`;
  }

  /** @internal */
  protected override onEnd(): void {
    this.#usage.stop();
    this.group.forget(this);
  }

  /** @internal */
  protected override onTold(): void {
    // Not by `AbortSignal.any`: on Node.js 20 a signal that lives long keeps something of each that was made of it.
    for (const work of this.#works) work.cancel(this.ended.reason);
    this.#leaveListeners.clear();
    this.group.endWhenEmpty();
  }

  /** @internal */
  protected override beforeDisposal(): Promise<void> | undefined {
    if (this.#works.size === 0) return undefined;
    const { clock, workGraceMs } = this.#settings;
    return new Promise((resolve) => {
      const timer = clock.setTimer(resolve, workGraceMs, { background: true });
      void Promise.allSettled([...this.#works].map(({ result }) => result)).then(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}
