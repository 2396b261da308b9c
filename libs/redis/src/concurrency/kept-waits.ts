import type { SettleWait, WaitEnd } from './wait-outcome.js';
import { firstEndMs } from './kept-leases.js';

/** Who asks and may have to wait, and how it learns of its end. */
export interface Expecting {
  readonly settle: SettleWait;
  /** The limit that its own limiter of a name has now. */
  readonly limitOf: (name: string) => number;
  /** Whether it holds permits of other limiters by that name: a message before the answer may be a late one about those. */
  readonly isKnownElsewhere: boolean;
}

/** When a request was asked, and how long by the numbers that it was asked with its place or lease lasts from then on. */
export interface AskedBy {
  readonly sinceMs: number;
  readonly leaseTtlMs: number;
}

/** A request of which the server may not know yet whether it waits. */
export interface Asking extends Pick<Expecting, 'isKnownElsewhere'> {
  readonly settle: (end: WaitEnd) => void;
  /** The limit that its own limiter has now; 0 where that is another one by now. */
  readonly ownLimit: () => number;
  /** At least until then the server keeps a lease that it has granted since it told last that there is the place. */
  heldUntilMs: number;
}

/** A request in the server's queue. */
export interface Waiting extends Asking {
  /** Until then the server keeps its place. */
  untilMs: number;
}

/** Of one that does not wait: it learns by itself what becomes of it. */
const IGNORING: Asking = {
  settle: () => undefined,
  ownLimit: () => 0,
  heldUntilMs: Infinity,
  isKnownElsewhere: false,
};

/** What a renewal answers about a lease or a wait; all else: it waits. */
export const RENEWED = { lost: 0, held: 1, evicted: 3 } as const;

/** The requests of this process that wait for one limiter of one partition, or have asked it, by their `id*permits`. */
export class KeptWaits {
  readonly #waiting = new Map<string, Waiting>();
  /** On their way: the server may not know them yet, so its not knowing them means nothing. */
  readonly #asking = new Map<string, Asking>();

  /** How many wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** How many have asked, and weren't answered yet. */
  get asking(): number {
    return this.#asking.size;
  }

  get members(): Iterable<string> {
    return this.#waiting.keys();
  }

  /** One that waits, or has asked. */
  get(member: string): Asking | undefined {
    return this.#waiting.get(member) ?? this.#asking.get(member);
  }

  waiting(member: string): Waiting | undefined {
    return this.#waiting.get(member);
  }

  /** It asks, and may have to wait. */
  expect(member: string, asking: Asking): void {
    this.#asking.set(member, asking);
  }

  /** It asks, and does not wait. */
  asks(member: string): void {
    this.#asking.set(member, IGNORING);
  }

  /** Whoever has asked waits now; `undefined` where it does not ask any more. */
  waits(member: string, untilMs: number, heldUntilMs: number): Waiting | undefined {
    const asking = this.#asking.get(member);
    if (asking === undefined) return undefined;
    this.#asking.delete(member);
    const waiting = { ...asking, untilMs, heldUntilMs };
    this.#waiting.set(member, waiting);
    return waiting;
  }

  delete(member: string): void {
    this.#asking.delete(member);
    this.#waiting.delete(member);
  }

  /** Those that want more permits than their limiters have now: they would stand before all others for ever. */
  aboveLimit(): string[] {
    return [...this.#waiting].filter(([member, one]) => isAboveLimit(member, one)).map(([member]) => member);
  }

  /** Limiters that share a name may have limits of their own: by the highest of those that wait, all are served. */
  highestLimit(limit: number): number {
    let highest = limit;
    for (const { ownLimit } of this.#waiting.values()) highest = Math.max(highest, ownLimit());
    return highest;
  }

  /** A renewal sent at `sentMs` tells of a wait what its message has not: by that, its place lasts until `untilMs`. */
  renewed(member: string, state: number, sentMs: number, untilMs: number): void {
    const waiting = this.#waiting.get(member);
    if (waiting === undefined) return;
    // A place that came to its end was taken by nobody.
    if (state === RENEWED.evicted && waiting.untilMs > sentMs) return waiting.settle('evicted');
    if (state === RENEWED.lost || state === RENEWED.evicted) return waiting.settle('lost');
    waiting.untilMs = waiting.heldUntilMs = untilMs;
    // An answer that was read late, as the process stood still, may tell of a lease that has ended since: the next will.
    if (state === RENEWED.held && untilMs > performance.now()) waiting.settle('granted');
  }

  /** Ends the waits whose places are over, as far as is known, and tells which they are. */
  loseEnded(nowMs: number, onEnded: (member: string) => void): void {
    for (const [member, { untilMs, settle }] of this.#waiting) {
      if (untilMs > nowMs) continue;
      settle('lost');
      onEnded(member);
    }
  }

  /** Ends all, with the limiter. */
  dispose(): void {
    for (const { settle } of [...this.#waiting.values(), ...this.#asking.values()]) settle('disposed');
  }

  /** When the first place ends, at `latestMs` at the latest. */
  firstEndMs(latestMs: number): number {
    return firstEndMs(this.#waiting.values(), latestMs);
  }
}

/** Whether a request wants more permits than there ever are. */
export function isAboveLimit(member: string, { ownLimit }: Asking): boolean {
  return permitsOf(member) > ownLimit();
}

/** The permits of a lease or a wait as the server keeps it: `id*permits`. */
export function permitsOf(member: string): number {
  return Number(member.slice(member.indexOf('*') + 1));
}
