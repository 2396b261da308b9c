import type { SentScripts } from '../scripts/sent-scripts.js';

/** What this package needs of a client: to run scripts, and to hear messages. */
export interface RedisConnection {
  /** Whether keys of different slots must go in different calls. */
  readonly isCluster: boolean;
  /** The scripts whose text was sent through it. */
  readonly sentScripts: SentScripts;
  /** Whether a command would be sent at once, not kept until there is a connection. */
  readonly isReady: boolean;
  /** Connects a client that waits for its first command, or that nobody has connected yet. */
  wake(): void;
  /** Runs a script that the server may know. Rejects with the server's error, or the client's. */
  evalsha(sha: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** The same for a script that is told its deadline, and whose sender waits no longer than that: the client needn't. */
  evalshaInTime(sha: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Runs a script by its text, on the node that {@link RedisConnection.evalsha} asked. */
  eval(text: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Runs what sends several commands, so that they go out in one write where the client does not see to it itself. */
  together(send: () => void): void;
  /** Calls the listener whenever the connection becomes ready. */
  onReady(listener: () => void): void;
  /** Opens a connection of its own that hears a channel; the listeners are called at each message and reconnection. */
  subscribe(channel: string, listener: ChannelListener): ChannelSubscription;
  /** Takes all listeners back; the client stays as it is. */
  detach(): void;
}

/** What a channel is heard by. */
export interface ChannelListener {
  onMessage(message: string): void;
  /** The channel is heard from now on; what was said before was missed. */
  onSubscribed(): void;
  /** The channel could not be subscribed to; `again` tries once more. */
  onFailed(error: unknown, again: () => void): void;
}

/** A connection that hears a channel. */
export interface ChannelSubscription {
  close(): void;
}
