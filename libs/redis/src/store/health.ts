import diagnostics from 'node:diagnostics_channel';
import type { RedisConnection } from '../clients/redis-connection.js';
import { Script } from '../scripts/script.js';
import { codeOfServerError } from '../scripts/server-error.js';
import { afterWhatLiesThere } from './after-what-lies-there.js';
import { timerDelay } from './timer-delay.js';

/** The name of the `node:diagnostics_channel` that tells when a store is lost or refuses, and when it is well again. */
export const STORE_CHANNEL = 'ratelease:store';

/** What is published on {@link STORE_CHANNEL}. */
export interface StoreEvent {
  /** The prefix of the partitions that the event is about. */
  readonly prefix: string;
  /**
   * What the store has become: `unavailable`: it does not answer, and isn't asked any more until it does; `refusing`: it
   * answers with errors, and is asked on.
   */
  readonly state: 'available' | 'unavailable' | 'refusing';
  /** How many requests had no answer of the store since it was last available: `whenUnavailable` answered them. */
  readonly unanswered: number;
  /** What a store that is refusing says, in its first word: `OOM`, `READONLY`, `NOPERM`. */
  readonly error?: string;
}

/**
 * A store is well again once it decides so long after its last error: of a cluster one node may refuse while the others
 * decide, and that is one outage, not one for each request.
 */
const CALM_MS = 1_000;
const FIRST_PROBE_MS = 50;
const LONGEST_PROBE_MS = 500;
/** In a cluster so many keys are asked about, on one node or another: one that is lost says nothing of the others. */
const PROBES_OF_A_CLUSTER = 8;
const PROBE = new Script('return 1');

/**
 * A breaker: once a command got no answer in time, and nothing else got one meanwhile, nobody waits for the store any
 * more until it answers a probe. In a cluster that is so once no other node answers either. Errors that the server
 * answers with don't open it: they come quickly. But they are told.
 */
export class Health {
  #isOpen = false;
  #isRefusing = false;
  #isDeaf = false;
  #lastReplyMs = -Infinity;
  #lastErrorMs = -Infinity;
  #probeDelayMs = FIRST_PROBE_MS;
  #isProbing = false;
  #isInDoubt = false;
  #isEnded = false;
  #timer: NodeJS.Timeout | undefined = undefined;
  #unanswered = 0;
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  readonly #probeKeys: readonly string[];
  readonly #run: (start: () => void) => void;
  readonly #listeners: ((isAvailable: boolean) => void)[] = [];
  readonly #channel = diagnostics.channel(STORE_CHANNEL);

  constructor(connection: RedisConnection, prefix: string, run: (start: () => void) => void) {
    this.#connection = connection;
    this.#prefix = prefix;
    const count = connection.isCluster ? PROBES_OF_A_CLUSTER : 1;
    this.#probeKeys = Array.from({ length: count }, (_, index) => `${prefix}:probe:${index}`);
    this.#run = run;
    connection.onReady(() => {
      if (this.#isOpen) void this.#probe();
    });
  }

  /** Whether the store is worth a command. */
  get isAvailable(): boolean {
    return !this.#isOpen;
  }

  /** Calls the listener when the store is lost, and when it is back or decides again. */
  onChange(listener: (isAvailable: boolean) => void): void {
    this.#listeners.push(listener);
  }

  replied(): void {
    this.#lastReplyMs = performance.now();
    if (this.#isOpen) this.#close();
  }

  /** The store has decided. */
  decided(): void {
    this.replied();
    if (!this.#isRefusing || this.#isDeaf || this.#lastReplyMs - this.#lastErrorMs < CALM_MS) return;
    this.#isRefusing = false;
    this.#becameAvailable();
  }

  /** The store answered with an error instead of a decision: it is asked again, but not well for that. */
  refused(error: unknown): void {
    this.#lastReplyMs = performance.now();
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#refuses(error);
  }

  /** It decides, but lets this process hear no messages. */
  refusedMessages(error: unknown): void {
    this.#isDeaf = true;
    if (!this.#isOpen) this.#refuses(error);
  }

  hearsMessages(): void {
    this.#isDeaf = false;
  }

  #refuses(error: unknown): void {
    this.#lastErrorMs = performance.now();
    if (this.#isRefusing) return;
    this.#isRefusing = true;
    this.#tell('refusing', codeOfServerError(error));
  }

  /** A request had no answer. */
  countUnanswered(): void {
    this.#unanswered++;
  }

  /** A command that was to be sent at that moment got no answer in time. */
  timedOut(sinceMs: number): void {
    if (this.#isOpen || this.#lastReplyMs >= sinceMs) return;
    if (this.#connection.isCluster && this.#connection.isReady) this.#doubt(performance.now() - sinceMs);
    else this.#open();
  }

  /** One node of a cluster does not answer: whether others do, is seen within that time. */
  #doubt(timeoutMs: number): void {
    if (this.#isInDoubt) return;
    this.#isInDoubt = true;
    const sinceMs = performance.now();
    this.#ask().then(
      () => this.replied(),
      () => undefined,
    );
    this.#run(() => {
      const decide = (): void => {
        this.#isInDoubt = false;
        if (!this.#isOpen && this.#lastReplyMs < sinceMs) this.#open();
      };
      setTimeout(() => afterWhatLiesThere(decide), timerDelay(timeoutMs)).unref();
    });
  }

  #open(): void {
    this.#isOpen = true;
    this.#isRefusing = false;
    this.#probeDelayMs = FIRST_PROBE_MS;
    this.#schedule();
    for (const listener of this.#listeners) listener(false);
    this.#tell('unavailable');
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }

  #close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#becameAvailable();
  }

  #becameAvailable(): void {
    for (const listener of this.#listeners) listener(true);
    this.#tell('available');
    this.#unanswered = 0;
  }

  #tell(state: StoreEvent['state'], error?: string): void {
    if (!this.#channel.hasSubscribers) return;
    const event: StoreEvent = { prefix: this.#prefix, state, unanswered: this.#unanswered };
    this.#channel.publish(error === undefined ? event : { ...event, error });
  }

  #schedule(): void {
    if (this.#isEnded) return;
    clearTimeout(this.#timer);
    this.#run(() => {
      // Nobody waits for it: it must not keep the process alive.
      this.#timer = setTimeout(() => void this.#probe(), this.#probeDelayMs).unref();
    });
    this.#probeDelayMs = Math.min(2 * this.#probeDelayMs, LONGEST_PROBE_MS);
  }

  /** Resolves when any node answers. */
  #ask(): Promise<unknown> {
    return Promise.any(this.#probeKeys.map((key) => PROBE.run(this.#connection, [key], [])));
  }

  /** One at a time: what a client keeps for a lost connection must not pile up. */
  async #probe(): Promise<void> {
    if (this.#isProbing || !this.#isOpen || this.#isEnded) return;
    if (!this.#connection.isReady) {
      this.#connection.wake();
      return this.#schedule();
    }
    this.#isProbing = true;
    try {
      await this.#ask();
      this.replied();
    } catch {
      this.#schedule();
    } finally {
      this.#isProbing = false;
    }
  }
}
