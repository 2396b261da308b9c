import type { ChannelSubscription } from '../clients/redis-connection.js';
import { isServerError } from '../scripts/server-error.js';
import type { Store } from '../store/store.js';

/** What a process is told about one of its waits: it was granted, or a newer request took its place. */
export type Notice = 'granted' | 'evicted';

/** What could not be subscribed to, as the server allows no such channel, is tried again so soon. */
const RETRY_MS = 500;

/** Who waits for messages: a request that asks several limiters is expected to wait for any of them. */
export interface Listener {
  /** @param remaining - how many permits the server has left. */
  hear(member: string, notice: Notice, remaining: number): void;
}

/** Hears what the server tells this process about its waits. The connection for it opens with the first wait. */
export class Notifications {
  readonly #store: Store;
  readonly #listeners = new Map<string, Listener[]>();
  readonly #onGap: () => void;
  #subscription: ChannelSubscription | undefined = undefined;
  #retryTimer: NodeJS.Timeout | undefined = undefined;
  #isEnded = false;

  /** @param onGap - messages may have been missed: everybody who waits has to look. */
  constructor(store: Store, onGap: () => void) {
    this.#store = store;
    this.#onGap = onGap;
  }

  /** Begins to listen, where it doesn't yet. Nobody waits for that: what is said until it hears is looked up then. */
  start(): void {
    this.#subscription ??= this.#subscribe();
  }

  expect(member: string, listener: Listener): void {
    const listeners = this.#listeners.get(member);
    if (listeners === undefined) this.#listeners.set(member, [listener]);
    else listeners.push(listener);
  }

  forget(member: string, listener: Listener): void {
    const others = this.#listeners.get(member)?.filter((other) => other !== listener);
    if (others === undefined) return;
    if (others.length === 0) this.#listeners.delete(member);
    else this.#listeners.set(member, others);
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#retryTimer);
    this.#subscription?.close();
  }

  #subscribe(): ChannelSubscription {
    return this.#store.connection.subscribe(this.#store.channels + this.#store.process, {
      onMessage: (message) => this.#hear(message),
      onSubscribed: () => {
        this.#store.health.hearsMessages();
        this.#onGap();
      },
      onFailed: (error, again) => this.#retry(error, again),
    });
  }

  /** Until then whoever waits learns of his turn only when he renews his place: that is told. */
  #retry(error: unknown, again: () => void): void {
    if (this.#isEnded) return;
    if (isServerError(error)) this.#store.health.refusedMessages(error);
    clearTimeout(this.#retryTimer);
    this.#store.runOutside(() => {
      this.#retryTimer = setTimeout(again, RETRY_MS).unref();
    });
  }

  /** A letter, the `id*permits` of the wait, a blank, and how many permits are left. */
  #hear(message: string): void {
    const blank = message.indexOf(' ');
    const remaining = Math.max(0, Number(message.slice(blank + 1)));
    const member = message.slice(1, blank);
    const notice = message.startsWith('g') ? 'granted' : 'evicted';
    for (const listener of this.#listeners.get(member) ?? []) listener.hear(member, notice, remaining);
  }
}
