import type { ChannelSubscription } from '../clients/redis-connection.js';
import { settledWithin } from '../store/settled-within.js';
import type { Store } from '../store/store.js';

/** What a process is told about one of its waits: it was granted, or a newer request took its place. */
export type Notice = 'granted' | 'evicted';

/** Hears what the server tells this process about its waits. The connection for it opens with the first wait. */
export class Notifications {
  readonly #store: Store;
  readonly #handlers = new Map<string, (notice: Notice) => void>();
  readonly #onGap: () => void;
  #subscription: ChannelSubscription | undefined = undefined;
  #isSubscribed = false;

  /** @param onGap - messages may have been missed: everybody who waits has to look. */
  constructor(store: Store, onGap: () => void) {
    this.#store = store;
    this.#onGap = onGap;
  }

  /** Begins to listen. A promise only until it is heard for the first time, or not within the time. */
  start(timeoutMs: number): Promise<void> | undefined {
    if (this.#isSubscribed) return undefined;
    this.#subscription ??= this.#subscribe();
    return settledWithin(this.#subscription.ready, timeoutMs);
  }

  expect(member: string, handler: (notice: Notice) => void): void {
    this.#handlers.set(member, handler);
  }

  forget(member: string): void {
    this.#handlers.delete(member);
  }

  end(): void {
    this.#subscription?.close();
  }

  #subscribe(): ChannelSubscription {
    return this.#store.connection.subscribe(this.#store.channels + this.#store.process, {
      onMessage: (message) => this.#hear(message),
      onSubscribed: () => {
        this.#isSubscribed = true;
        this.#onGap();
      },
    });
  }

  #hear(message: string): void {
    const handler = this.#handlers.get(message.slice(1));
    handler?.(message.startsWith('g') ? 'granted' : 'evicted');
  }
}
