import { RELEASE } from '../scripts/script.js';
import type { Returning } from '../store/returns.js';
import type { Store } from '../store/store.js';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 1_000;

interface Ending {
  /** After this moment the server has taken the permits back by itself. */
  readonly untilMs: number;
  readonly done: () => void;
}

/**
 * Ends leases and waits of one limiter, again and again until they would have expired. Those of a turn go in one call,
 * and what comes while it is on its way in the next; but before this process asks the limiter anything, all that it has
 * ended so far is sent: it must find the places free.
 */
export class Releases implements Returning {
  readonly leasesKey: string;
  readonly #store: Store;
  readonly #keys: readonly string[];
  readonly #numbers: readonly string[];
  readonly #onIdle: () => void;
  #pending = new Map<string, Ending>();
  /** The calls on their way: mostly one. */
  readonly #calls = new Set<Promise<number>>();
  #retryTimer: NodeJS.Timeout | undefined = undefined;
  #retryMs = FIRST_RETRY_MS;

  constructor(
    store: Store,
    keys: readonly string[],
    numbers: readonly string[],
    // oxlint-disable-next-line max-params -- a part of the keeper, made nowhere else
    onIdle: () => void,
  ) {
    this.#store = store;
    this.#keys = keys;
    this.leasesKey = keys[1]!;
    this.#numbers = numbers;
    this.#onIdle = onIdle;
  }

  get isIdle(): boolean {
    return this.#pending.size === 0 && this.#calls.size === 0;
  }

  /** Resolves once the server has been told, or could not be told at the first attempt. */
  add(member: string, untilMs: number): Promise<void> {
    return new Promise((done) => {
      const earlier = this.#pending.get(member);
      const tellBoth = (): void => {
        earlier?.done();
        done();
      };
      this.#pending.set(member, { untilMs, done: earlier === undefined ? done : tellBoth });
      // The first of a turn: the others go with it.
      const isSoon = this.#pending.size === 1 && this.#calls.size === 0;
      this.#store.giveBackLeases(this, isSoon);
    });
  }

  /** Tries once more what could not be told yet. */
  async end(): Promise<void> {
    await Promise.all(this.#calls);
    this.send();
    await Promise.all(this.#calls);
  }

  send(): void {
    if (this.#pending.size === 0) return;
    const sent = this.#pending;
    this.#pending = new Map();
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#store.returns.forget(this);
    const call = this.#tell(sent);
    this.#calls.add(call);
    // Whose client sends what was lost with a connection again in any order.
    if (this.#store.connection.isCluster) this.#store.returns.watch(this.leasesKey, call);
    void call.then(() => this.#told(call));
  }

  /** Resolves with the moment at which the server heard it, in µs of its time; an infinite one where it may not have. */
  async #tell(sent: Map<string, Ending>): Promise<number> {
    let heardUs = Infinity;
    const args = [this.#store.timeArgument, ...this.#numbers, this.#store.channels, ...sent.keys()];
    try {
      if (!this.#store.connection.isReady) throw new Error('There is no connection.');
      const reply = await this.#store.run(RELEASE, this.#keys, args);
      heardUs = reply[0]!;
      this.#retryMs = FIRST_RETRY_MS;
    } catch {
      this.#keepForLater(sent);
    }
    for (const { done } of sent.values()) done();
    return heardUs;
  }

  #told(call: Promise<number>): void {
    this.#calls.delete(call);
    if (this.isIdle) this.#onIdle();
    else if (this.#calls.size === 0 && this.#retryTimer === undefined) this.#store.giveBackLeases(this, true);
  }

  #keepForLater(failed: Map<string, Ending>): void {
    const nowMs = performance.now();
    for (const [member, ending] of failed)
      if (ending.untilMs > nowMs && !this.#pending.has(member)) this.#pending.set(member, ending);
    if (this.#pending.size === 0) return;
    // Also one that refused, as a replica does, may be well by the next question, or another one in its place.
    this.#store.giveBackLeases(this, false);
    clearTimeout(this.#retryTimer);
    this.#store.runOutside(() => {
      // Nobody waits for it: if the process ends first, the server takes the permits back.
      this.#retryTimer = setTimeout(() => this.#retry(), this.#retryMs).unref();
    });
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
  }

  #retry(): void {
    this.#retryTimer = undefined;
    this.send();
  }
}
