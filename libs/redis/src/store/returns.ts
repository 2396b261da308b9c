import type { LimiterGroup } from './limiter-group.js';

/** Leases of one limiter that are to be given back, and that the server has not been told of yet. */
export interface Returning {
  /** The key under which the server keeps the leases. */
  readonly leasesKey: string;
  /** Tells the server, where there is a connection; else they are kept. */
  send(): void;
}

/** A call that tells the server of what is given back. */
export interface Telling {
  /** Ends with the server's answer, or without one. */
  readonly ended: Promise<void>;
  /** When the server heard it, in µs of its time; infinite until that is known. */
  heardUs: number;
}

/** The partition's key comes first, then three for each limiter; see `concurrencyKeys`. */
const FIRST_LEASES_KEY = 1;
const KEYS_OF_A_LIMITER = 3;
const NOTHING: readonly Telling[] = [];

/**
 * Leases that this process gives back, before anything that it asks of their limiters later: who disposes of a lease and
 * then asks finds its place free. One connection keeps the order in which it is told.
 */
export class Returns {
  readonly #kept = new Map<string, Returning>();
  #due: Returning[] = [];
  /** The calls on their way by the leases that they tell of; only where the client may lose the order. */
  readonly #onTheWay = new Map<string, Set<Telling>>();

  /** Whether anything goes with the next flush. */
  get isDue(): boolean {
    return this.#due.length > 0;
  }

  /** It goes once its turn comes, but before whatever is asked of the limiter. */
  keep(returning: Returning): void {
    const other = this.#kept.get(returning.leasesKey);
    if (other === returning) return;
    // A limiter that was given up and made anew.
    other?.send();
    this.#kept.set(returning.leasesKey, returning);
  }

  /** It goes with the next flush. */
  addDue(returning: Returning): void {
    this.#due.push(returning);
  }

  /** It is being sent. */
  forget(returning: Returning): void {
    if (this.#kept.get(returning.leasesKey) === returning) this.#kept.delete(returning.leasesKey);
  }

  /** It has been sent; the call ends with the moment at which the server heard it. */
  watch(leasesKey: string, call: Promise<number>): void {
    const calls = this.#onTheWay.get(leasesKey) ?? new Set();
    const onEnd = (heardUs: number): void => {
      telling.heardUs = heardUs;
      calls.delete(telling);
      if (calls.size === 0) this.#onTheWay.delete(leasesKey);
    };
    const telling: Telling = { heardUs: Infinity, ended: call.then(onEnd) };
    this.#onTheWay.set(leasesKey, calls.add(telling));
  }

  /** What was sent before the group is asked, and is not answered yet. */
  before({ keys }: LimiterGroup): readonly Telling[] | null {
    if (this.#onTheWay.size === 0) return null;
    let before: Telling[] | null = null;
    for (const key of keys)
      for (const telling of this.#onTheWay.get(key) ?? NOTHING) (before ??= []).push(telling);
    return before;
  }

  sendDue(): void {
    const due = this.#due;
    this.#due = [];
    for (const returning of due) returning.send();
  }

  /** There is a connection again: what could not be told goes before all that waited for it. */
  sendKept(): void {
    for (const returning of [...this.#kept.values()]) returning.send();
  }

  /** The group is about to be asked. */
  sendBefore({ keys }: LimiterGroup): void {
    if (this.#kept.size === 0) return;
    for (let index = FIRST_LEASES_KEY; index < keys.length; index += KEYS_OF_A_LIMITER)
      this.#kept.get(keys[index]!)?.send();
  }
}

/** Resolves once the last of the calls has ended that the server had not heard at that moment; `null`: it had heard all. */
export function untilHeard(calls: readonly Telling[], nowUs: number): Promise<unknown> | null {
  const later = calls.filter(({ heardUs }) => heardUs > nowUs);
  return later.length === 0 ? null : Promise.all(later.map(({ ended }) => ended));
}
