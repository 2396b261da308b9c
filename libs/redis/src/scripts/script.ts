import { createHash } from 'node:crypto';
import type { RedisConnection } from '../clients/redis-connection.js';
import type { AlgorithmName } from './compose-script.js';
import { composeDecision, composeGivingBack } from './compose-script.js';
import { SCRIPTS } from './sources.generated.js';

/** A script, and the hash by which a server that has run it knows it. */
export class Script {
  readonly text: string;
  readonly sha: string;
  readonly #comesFirst: boolean;

  /** @param comesFirst - nothing that is sent behind it may overtake it. */
  constructor(text: string, comesFirst = false) {
    this.text = text;
    this.#comesFirst = comesFirst;
    this.sha = createHash('sha1').update(text).digest('hex');
  }

  /**
   * Runs the script: by its text where the server was never sent it or has forgotten it, as it was restarted or flushed or
   * another one took its place; else by its hash. Nothing else is ever sent twice: a script may have run although its
   * answer is an error, or never came.
   */
  async run(connection: RedisConnection, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const sending = connection.sentScripts.sendingOf(this.sha);
    // Which node of a cluster is asked, and what that one knows, nobody knows here.
    const bringsText = sending === 0 || (this.#comesFirst && connection.isCluster);
    if (bringsText) return this.#eval(connection, keys, args);
    try {
      return await connection.evalsha(this.sha, keys, args);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return this.#again(connection, sending, { keys, args });
    }
  }

  /** The same, with the answer handed to the sender. A promise more for each call would be felt. */
  send<TCall extends ScriptCall>(
    connection: RedisConnection,
    call: TCall,
    sender: ScriptSender<TCall>,
  ): void {
    const sending = connection.sentScripts.sendingOf(this.sha);
    const onReply = (reply: unknown): void => sender.onReply(call, reply);
    const sent =
      sending === 0
        ? this.#eval(connection, call.keys, call.args)
        : connection.evalshaInTime(this.sha, call.keys, call.args);
    sent.then(onReply, (error: unknown) => {
      if (sending === 0 || !isUnknownScript(error)) return sender.onError(call, error);
      void this.#again(connection, sending, call).then(onReply, (another: unknown) =>
        sender.onError(call, another),
      );
    });
  }

  /** The server did not know the script. Of many calls that learn it, the first sends its text. */
  async #again(connection: RedisConnection, sending: number, { keys, args }: ScriptCall): Promise<unknown> {
    connection.sentScripts.forgotten(this.sha, sending);
    if (connection.sentScripts.sendingOf(this.sha) === 0) return this.#eval(connection, keys, args);
    try {
      return await connection.evalsha(this.sha, keys, args);
    } catch (error) {
      // In a cluster it was another server that was sent the text.
      if (!isUnknownScript(error)) throw error;
      return this.#eval(connection, keys, args);
    }
  }

  #eval(connection: RedisConnection, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    connection.sentScripts.add(this.sha);
    return connection.eval(this.text, keys, args);
  }
}

/** What a script is called with. */
export interface ScriptCall {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** Whoever is told what has become of a call. */
export interface ScriptSender<TCall extends ScriptCall> {
  onReply(call: TCall, reply: unknown): void;
  onError(call: TCall, error: unknown): void;
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

const decisions = new Map<string, Script>();
const givingBack = new Map<string, Script>();

/** Ends leases and waits: whoever asks next finds their places free. */
export const RELEASE = new Script(SCRIPTS.release, true);
/** Keeps leases and waits alive. */
export const RENEW = new Script(SCRIPTS.renew);

/** The script that decides for limiters of these algorithms. */
export function decisionScript(algorithms: readonly AlgorithmName[]): Script {
  return cached(decisions, algorithms, composeDecision);
}

/** The script that gives back what limiters of these rates granted. */
export function givingBackScript(algorithms: readonly AlgorithmName[]): Script {
  return cached(givingBack, algorithms, composeGivingBack);
}

function cached(
  scripts: Map<string, Script>,
  algorithms: readonly AlgorithmName[],
  compose: (algorithms: readonly AlgorithmName[]) => string,
): Script {
  const name = algorithms.join();
  let script = scripts.get(name);
  if (script === undefined) scripts.set(name, (script = new Script(compose(algorithms))));
  return script;
}
