import type { SessionEndReason } from '../errors/active-session-error.js';
import { SessionEndedError } from '../errors/active-session-error.js';
import type { Resource } from './owned-resources.js';
import { end, isResource, OwnedResources } from './owned-resources.js';

/** Told of errors that nobody awaits. */
export type SessionErrorHandler = (error: unknown) => void;

/** What sessions and groups have in common: they live until their one end, tell it, and own things that end with them. */
export abstract class Lifespan {
  /** Anything that belongs to it, by keys of your own. */
  readonly properties = new Map<unknown, unknown>();
  readonly #abort = new AbortController();
  readonly #owned = new OwnedResources();
  readonly #onError: SessionErrorHandler;
  #ending: Promise<void> | undefined = undefined;

  /** @internal */
  constructor(onError: SessionErrorHandler) {
    this.#onError = onError;
  }

  /** Whether it hasn't ended yet. */
  get isAvailable(): boolean {
    return this.#ending === undefined;
  }

  /** Aborts at the end, in the same instant; its reason is a {@link SessionEndedError}. */
  get ended(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why it has ended; `undefined` while it lives. */
  get endReason(): SessionEndReason | undefined {
    return (this.#abort.signal.reason as SessionEndedError | undefined)?.reason;
  }

  /**
   * Takes over a resource: it is disposed at the end, after those that were taken over later. Where the end has
   * come already, it is disposed at once.
   *
   * @returns the same resource.
   * @throws SessionEndedError `ERR_RL_SESSION_ENDED` - after the end.
   * @throws TypeError - for something without `Symbol.dispose` and `Symbol.asyncDispose`.
   */
  takeOwnership<T extends Resource>(resource: T): T {
    if (!isResource(resource)) {
      throw new TypeError(
        `${this.describe()} can own only what has Symbol.dispose or Symbol.asyncDispose, but got ${typeof resource}.`,
      );
    }
    if (this.isAvailable) {
      this.#owned.add(resource);
      return resource;
    }
    end(resource)?.then(undefined, this.#onError);
    throw this.#abort.signal.reason as SessionEndedError;
  }

  /** What messages call it. @internal */
  protected abstract describe(): string;

  /** Called once, at the end, before anybody is told: nobody may find it any more. @internal */
  protected abstract onEnd(): void;

  /** Called once, when everybody has been told. @internal */
  protected abstract onTold(): void;

  /** What has to be over before owned resources end. @internal */
  protected beforeDisposal(): Promise<void> | undefined {
    return undefined;
  }

  /** Ends it; later calls have the same outcome. Never rejects: errors go to the handler. @internal */
  protected endWith(reason: SessionEndReason): Promise<void> {
    if (this.#ending !== undefined) return this.#ending;
    let over!: () => void;
    this.#ending = new Promise((resolve) => {
      over = resolve;
    });
    this.onEnd();
    this.#abort.abort(new SessionEndedError(this.describe(), reason));
    this.onTold();
    this.#disposeOwned().then(over, over);
    return this.#ending;
  }

  async #disposeOwned(): Promise<void> {
    const before = this.beforeDisposal();
    if (before !== undefined) await before;
    for (const error of await this.#owned.dispose()) this.#onError(error);
  }
}
