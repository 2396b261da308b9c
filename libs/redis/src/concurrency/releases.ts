import { RELEASE } from '../scripts/script.js';
import type { Store } from '../store/store.js';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 1_000;

interface Ending {
  /** After this moment the server has taken the permits back by itself. */
  readonly untilMs: number;
  readonly done: () => void;
}

/** Ends leases and waits of one limiter: those of a turn in one call, again and again until they would have expired. */
export class Releases {
  readonly #store: Store;
  readonly #keys: readonly string[];
  readonly #numbers: readonly string[];
  readonly #onIdle: () => void;
  #pending = new Map<string, Ending>();
  #isSending = false;
  #isScheduled = false;
  #sending: Promise<void> | undefined = undefined;
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
    this.#numbers = numbers;
    this.#onIdle = onIdle;
  }

  get isIdle(): boolean {
    return this.#pending.size === 0 && !this.#isSending;
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
      this.#schedule();
    });
  }

  /** Tries once more what could not be told yet. */
  async end(): Promise<void> {
    await this.#sending;
    if (this.#pending.size > 0) await this.#begin();
  }

  #begin(): Promise<void> {
    this.#sending = this.#send();
    return this.#sending;
  }

  #schedule(): void {
    if (this.#isSending || this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => process.nextTick(() => void this.#begin()));
  }

  async #send(): Promise<void> {
    this.#isScheduled = false;
    const sent = this.#pending;
    if (this.#isSending) return this.#sending;
    if (sent.size === 0) return;
    this.#pending = new Map();
    this.#isSending = true;
    const args = [this.#store.timeArgument, ...this.#numbers, this.#store.channels, ...sent.keys()];
    try {
      if (!this.#store.connection.isReady) throw new Error('There is no connection.');
      await this.#store.run(RELEASE, this.#keys, args);
      this.#retryMs = FIRST_RETRY_MS;
    } catch {
      this.#keepForLater(sent);
    }
    this.#isSending = false;
    for (const { done } of sent.values()) done();
    if (this.#pending.size === 0) this.#onIdle();
    else if (!this.#isScheduled) this.#schedule();
  }

  #keepForLater(failed: Map<string, Ending>): void {
    const nowMs = performance.now();
    for (const [member, ending] of failed)
      if (ending.untilMs > nowMs && !this.#pending.has(member)) this.#pending.set(member, ending);
    if (this.#pending.size === 0) return;
    this.#isScheduled = true;
    this.#store.runOutside(() => {
      // Nobody waits for it: if the process ends first, the server takes the permits back.
      setTimeout(() => void this.#begin(), this.#retryMs).unref();
    });
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
  }
}
