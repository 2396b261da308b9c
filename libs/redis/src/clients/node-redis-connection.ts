import { SentScripts } from '../scripts/sent-scripts.js';
import type { ChannelListener, ChannelSubscription, RedisConnection } from './redis-connection.js';

/** What of the clients of `redis` is used: those of `createClient` and of `createCluster`. */
export interface NodeRedisClient {
  readonly isReady?: boolean;
  readonly isOpen: boolean;
  readonly masters?: unknown;
  evalSha(sha: string, options: ScriptOptions): Promise<unknown>;
  eval(text: string, options: ScriptOptions): Promise<unknown>;
  withCommandOptions?(options: { timeout: number }): Pick<NodeRedisClient, 'evalSha'>;
  duplicate(): NodeRedisClient;
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  unref?(): void;
  destroy?(): void;
  disconnect?(): Promise<unknown>;
  on(event: string, listener: (...values: never[]) => void): unknown;
  off(event: string, listener: (...values: never[]) => void): unknown;
}

/** How node-redis takes the keys and arguments of a script. */
export interface ScriptOptions {
  readonly keys: string[];
  readonly arguments: string[];
}

const ignore = (): void => undefined;

/** A client of node-redis, single server or cluster. */
export class NodeRedisConnection implements RedisConnection {
  readonly isCluster: boolean;
  readonly sentScripts = new SentScripts();
  readonly #client: NodeRedisClient;
  readonly #withoutTimeout: Pick<NodeRedisClient, 'evalSha'>;
  #wasReady: boolean;
  readonly #listeners: [event: string, listener: () => void][] = [];

  constructor(client: NodeRedisClient) {
    this.#client = client;
    this.isCluster = 'masters' in client;
    this.#withoutTimeout =
      (this.isCluster ? undefined : client.withCommandOptions?.({ timeout: 0 })) ?? client;
    // node-redis ends the process on an error that nobody listens to.
    this.#on('error', ignore);
    this.#wasReady = client.isOpen;
    this.onReady(() => (this.#wasReady = true));
  }

  get isReady(): boolean {
    return this.#client.isReady ?? this.#client.isOpen;
  }

  wake(): void {
    // A client that its owner has closed stays closed. One of a cluster gives up if no node answers at once.
    if (!this.#wasReady && !this.#client.isOpen) this.#client.connect().catch(ignore);
  }

  evalsha(sha: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.#client.evalSha(sha, { keys: keys as string[], arguments: args as string[] });
  }

  /** node-redis makes an `AbortSignal` with a timer for each command, which costs more than the command. */
  evalshaInTime(sha: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.#withoutTimeout.evalSha(sha, { keys: keys as string[], arguments: args as string[] });
  }

  eval(text: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.#client.eval(text, { keys: keys as string[], arguments: args as string[] });
  }

  /** node-redis writes the commands of a turn together. */
  together(send: () => void): void {
    send();
  }

  onReady(listener: () => void): void {
    // A cluster says `connect` when it can be asked, and never `ready`.
    this.#on(this.isCluster ? 'connect' : 'ready', listener);
  }

  subscribe(channel: string, listener: ChannelListener): ChannelSubscription {
    const subscriber = this.#client.duplicate();
    let isSubscribed = false;
    // One for all times: it hears a channel once, however often it was subscribed to.
    const hear = (message: string): void => listener.onMessage(message);
    // It subscribes again by itself after it has lost the connection, and again where that fails; but not where a
    // `reconnectStrategy` has given up, and the application never saw this connection and can't open it again.
    subscriber.on('error', (error: Error) => {
      if (isSubscribed) listener.onFailed(error, () => void (subscriber.isOpen || subscribe()));
    });
    subscriber.on('ready', () => {
      if (isSubscribed) listener.onSubscribed();
    });
    const subscribe = async (): Promise<void> => {
      try {
        if (!subscriber.isOpen) await subscriber.connect();
        // An application that has closed its own client is to end, also where it has forgotten this one.
        subscriber.unref?.();
        await subscriber.subscribe(channel, hear);
        isSubscribed = true;
        listener.onSubscribed();
      } catch (error) {
        listener.onFailed(error, () => void subscribe());
      }
    };
    void subscribe();
    return { close: () => end(subscriber) };
  }

  detach(): void {
    for (const [event, listener] of this.#listeners) this.#client.off(event, listener);
  }

  #on(event: string, listener: () => void): void {
    this.#listeners.push([event, listener]);
    this.#client.on(event, listener);
  }
}

function end(client: NodeRedisClient): void {
  try {
    if (client.destroy !== undefined) client.destroy();
    else void client.disconnect?.().catch(ignore);
  } catch {
    // It was not open any more.
  }
}
