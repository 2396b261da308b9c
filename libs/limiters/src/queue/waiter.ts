import { REASON, RefusedLease } from '../engine/refused-lease.js';
import type { RateLimitLease, RateLimitQuota } from '../rate-limit-lease.js';
import type { Abortable, AbortSubscription } from './abort-subscription.js';
import { subscribeToAbort } from './abort-subscription.js';
import type { WaiterSegment } from './waiter-list.js';
import type { WaitQueue } from './wait-queue.js';

/** The limiter in whose queue a waiter stands, as the waiter sees it. */
export interface WaitingPlace {
  /** A waiter has left: looks at who is next. */
  resume(): void;
  /** When a request could be granted, in whole milliseconds, if it were made now. */
  retryAfterMs(permits: number): number | undefined;
  /** Counts a wait that ended in a refusal. */
  countRefusal(): void;
  /** How the limiter stands, for such a refusal. */
  quota?(): RateLimitQuota;
}

/** What few requests have: a signal that may abort them, a time that may run out. */
export class WaitBounds {
  deadlineMs = Infinity;
  /** Where the waiter stands among the deadlines of its queue. */
  deadlineIndex = -1;
  reject: ((reason: unknown) => void) | null = null;
  subscription: AbortSubscription | null = null;
}

type Resolve = (outcome: RateLimitLease | Promise<never>) => void;

/** The resolving functions of the promise made last: one executor for all of them makes none of its own for each. */
let resolveLast: Resolve | null = null;
let rejectLast: ((reason: unknown) => void) | null = null;
const executor = (resolve: Resolve, reject: (reason: unknown) => void): void => {
  resolveLast = resolve;
  rejectLast = reject;
};

/**
 * A request that waits for its turn in a queue. It settles exactly once, whoever comes first: a grant, an
 * abort, the end of its time, the end of its limiter.
 *
 * Thousands of them may live at once, so it has few fields.
 */
export abstract class Waiter implements Abortable {
  /** @internal The stretch of the queue in which it stands. */
  segment: WaiterSegment | null = null;
  /** @internal */
  index = 0;
  /** Where it waits, or has just left and has to be looked at; set by whoever lets it wait. */
  place: WaitingPlace | null = null;
  /** What it asks of the limiter in whose queue it is. */
  permits: number;
  /** @internal */
  bounds: WaitBounds | null = null;

  /** Settles when the wait ends. */
  readonly promise: Promise<RateLimitLease>;
  /** `null` once it has settled. */
  private resolve: Resolve | null;

  constructor(permits: number, signal: AbortSignal | undefined) {
    this.permits = permits;
    this.promise = new Promise<RateLimitLease>(executor);
    this.resolve = resolveLast;
    if (signal !== undefined) {
      this.bounds = new WaitBounds();
      this.bounds.reject = rejectLast;
      this.bounds.subscription = subscribeToAbort(signal, this);
    }
    // They would keep the promise, and the lease in it.
    resolveLast = null;
    rejectLast = null;
  }

  /** @internal Whether the wait has ended, in whichever way. */
  get isOver(): boolean {
    return this.resolve === null;
  }

  /** @internal The queue in which it stands. */
  get queue(): WaitQueue | null {
    return this.segment === null ? null : this.segment.list.queue;
  }

  /** When its time is over, in clock milliseconds; `Infinity`: it may wait as long as it takes. */
  get deadlineMs(): number {
    return this.bounds === null ? Infinity : this.bounds.deadlineMs;
  }

  /** Sets {@link Waiter.deadlineMs}; before it stands in a queue. */
  waitUntil(deadlineMs: number): void {
    if (deadlineMs === this.deadlineMs) return;
    this.bounds ??= new WaitBounds();
    this.bounds.deadlineMs = deadlineMs;
  }

  /** Whether it goes on by reserving: it stands before everybody else in its queue. */
  get isReserving(): boolean {
    return false;
  }

  /** Called when there is enough for it at the head of its queue; must leave that head or change its state. */
  abstract takeTurn(): void;

  /** Something that it waits for has come from elsewhere: it may need fewer permits where it waits. */
  onNeedsLess(): void {
    // A plain waiter needs what it asks for.
  }

  /** Gives up what it may have taken on its way. */
  protected giveUp(): void {
    // A plain waiter holds nothing.
  }

  /** Called once, when the wait ends in whichever way. */
  protected ended(): void {
    // A plain waiter is known to nobody but its queue.
  }

  /**
   * Ends the wait with a lease, granted or refused.
   * @returns `false` when it had ended already: nobody gets the lease.
   */
  settle(lease: RateLimitLease): boolean {
    const resolve = this.end();
    resolve?.(lease);
    return resolve !== null;
  }

  /** Ends the wait with a refusal, by a limiter that goes on. */
  refuse(lease: RateLimitLease): void {
    try {
      this.giveUp();
    } finally {
      this.settle(lease);
    }
  }

  /** Ends the wait with an error: what had to be asked for it has thrown. */
  fail(error: unknown): void {
    this.leave();
    try {
      this.giveUp();
    } finally {
      // Only those that can be aborted keep the function that rejects.
      this.end()?.(Promise.reject(error));
    }
  }

  onAbort(reason: unknown): void {
    if (this.end() === null) return;
    this.place = this.leave();
    this.bounds!.reject!(reason);
  }

  afterAbort(): void {
    try {
      this.resume();
    } catch {
      // A clock fails. Whoever aborts has nothing to do with it, and from here the error would end the process. Those
      // behind are looked at again soon, and the clock says itself what is wrong with it if it still fails then.
    }
  }

  /**
   * Ends the wait before its time, with a refusal; {@link Waiter.resume} has to follow.
   *
   * @param _cause - what has ended and can never grant any more, where that isn't all that it waits for.
   */
  withdraw(lease: RateLimitLease, _cause?: object): void {
    this.place = this.leave();
    this.settle(lease);
  }

  /** Hands on what a waiter that has ended leaves: what it had taken, and its place. */
  resume(): void {
    try {
      this.giveUp();
    } finally {
      if (this.segment === null) {
        const { place } = this;
        this.place = null;
        place?.resume();
      }
    }
  }

  /** Its time is over. */
  onDeadline(): void {
    const place = this.leave();
    const retryAfterMs = place?.retryAfterMs(this.permits);
    place?.countRefusal();
    this.refuse(new RefusedLease(REASON.waitLimitReached, retryAfterMs, place?.quota?.()));
    place?.resume();
  }

  /** Leaves the queue and frees its room there; nobody is looked at yet. */
  protected leave(): WaitingPlace | null {
    const { place } = this;
    this.queue?.delete(this);
    return place;
  }

  /** Returns what resolves the promise, or `null` where it has ended already. */
  private end(): Resolve | null {
    const { resolve } = this;
    if (resolve === null) return null;
    this.resolve = null;
    this.bounds?.subscription?.delete(this);
    this.ended();
    return resolve;
  }
}
