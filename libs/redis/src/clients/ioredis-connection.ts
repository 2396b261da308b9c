import type { Writable } from 'node:stream';
import { SentScripts } from '../scripts/sent-scripts.js';
import type { ChannelListener, ChannelSubscription, RedisConnection } from './redis-connection.js';

/** What of ioredis' `Redis` and `Cluster` is used. */
export interface IoredisClient {
  readonly status: string;
  readonly isCluster?: boolean;
  readonly options?: { readonly autoResendUnfulfilledCommands?: boolean };
  /** The socket, where there is one. */
  readonly stream?: (Partial<Pick<Writable, 'cork' | 'uncork'>> & { unref?(): unknown }) | null;
  evalsha(sha: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>;
  eval(text: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>;
  duplicate(...overrides: never[]): IoredisClient;
  connect(): Promise<void>;
  subscribe(channel: string): Promise<unknown>;
  disconnect(): void;
  on(event: string, listener: (...values: never[]) => void): unknown;
  off(event: string, listener: (...values: never[]) => void): unknown;
}

const ignore = (): void => undefined;

/** Scripts name channels as they are: no prefix of the client's may come before them. */
const SUBSCRIBER = {
  keyPrefix: '',
  lazyConnect: true,
  enableOfflineQueue: true,
  maxRetriesPerRequest: null,
};

/** A client of ioredis, single server or cluster. */
export class IoredisConnection implements RedisConnection {
  readonly isCluster: boolean;
  readonly sentScripts = new SentScripts();
  readonly #client: IoredisClient;
  /** What a lost connection leaves without an answer, where the client would leave it so for ever. */
  readonly #unanswered: Set<(reason: Error) => void> | null;
  readonly #listeners: [event: string, listener: () => void][] = [];

  constructor(client: IoredisClient) {
    this.#client = client;
    this.isCluster = client.isCluster === true;
    // Without a listener ioredis writes each failed attempt to connect to the console.
    this.#on('error', ignore);
    // It neither sends again then what was not answered, nor rejects it.
    const forgets = !this.isCluster && client.options?.autoResendUnfulfilledCommands === false;
    this.#unanswered = forgets ? new Set() : null;
    if (forgets) this.#on('close', () => this.#rejectUnanswered());
  }

  get isReady(): boolean {
    return this.#client.status === 'ready';
  }

  wake(): void {
    if (this.#client.status === 'wait') this.#client.connect().catch(ignore);
  }

  evalsha(sha: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    // Most calls have one key. More than one list would be copied into a third one before.
    if (keys.length === 1) return this.#orLost(this.#client.evalsha(sha, 1, keys[0]!, ...args));
    return this.#orLost(this.#client.evalsha(sha, keys.length, ...keys, ...args));
  }

  evalshaInTime(sha: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.evalsha(sha, keys, args);
  }

  eval(text: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.#orLost(this.#client.eval(text, keys.length, ...keys, ...args));
  }

  /** ioredis writes each command to the socket by itself, and a system call costs more than a command. */
  together(send: () => void): void {
    const { stream } = this.#client;
    stream?.cork?.();
    try {
      send();
    } finally {
      stream?.uncork?.();
    }
  }

  onReady(listener: () => void): void {
    this.#on('ready', listener);
  }

  subscribe(channel: string, listener: ChannelListener): ChannelSubscription {
    const subscriber = this.isCluster
      ? this.#client.duplicate([] as never, SUBSCRIBER as never)
      : // ioredis outlives by two seconds what is closed during its check. To subscribe, none is needed.
        this.#client.duplicate({ ...SUBSCRIBER, enableReadyCheck: false, autoResubscribe: false } as never);
    subscriber.on('error', ignore);
    subscriber.on('message', (_channel: string, message: string) => listener.onMessage(message));
    // An application that has closed its own client is to end, also where it has forgotten this one, which it never saw.
    subscriber.on('connect', () => subscriber.stream?.unref?.());
    // Each connection anew, and not by ioredis itself, which does not say when the server has heard of it.
    const subscribe = (): void => {
      // Without a connection the next one does it.
      if (subscriber.status !== 'ready') return;
      subscriber.subscribe(channel).then(
        () => listener.onSubscribed(),
        (error: unknown) => listener.onFailed(error, subscribe),
      );
    };
    subscriber.on('ready', subscribe);
    const connect = (): void => void subscriber.connect().catch(ignore);
    // A `retryStrategy` that gives up ends this connection too, which the application never saw and can't open again.
    subscriber.on('end', () => listener.onFailed(new Error('The connection was lost.'), connect));
    connect();
    return { close: () => subscriber.disconnect() };
  }

  detach(): void {
    for (const [event, listener] of this.#listeners) this.#client.off(event, listener);
  }

  #orLost(sent: Promise<unknown>): Promise<unknown> {
    const unanswered = this.#unanswered;
    if (unanswered === null) return sent;
    return new Promise((resolve, reject) => {
      unanswered.add(reject);
      sent.then(resolve, reject).finally(() => unanswered.delete(reject));
    });
  }

  #rejectUnanswered(): void {
    const lost = [...this.#unanswered!];
    this.#unanswered!.clear();
    for (const reject of lost) reject(new Error('The connection was lost before the answer.'));
  }

  #on(event: string, listener: () => void): void {
    this.#listeners.push([event, listener]);
    this.#client.on(event, listener);
  }
}
