import { REASON, RefusedLease } from '../engine/refused-lease.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { Abortable } from './abort-subscription.js';
import { subscribe, unsubscribe } from './abort-subscription.js';
import type { WaitQueue } from './wait-queue.js';

/** The limiter in whose queue a waiter stands, as the waiter sees it. */
export interface WaitingPlace {
  /** A waiter has left: looks at who is next. */
  resume(): void;
  /** When a request could be granted, in whole milliseconds, if it were made now. */
  retryAfterMs(permits: number): number | undefined;
  /** Counts a wait that ended in a refusal. */
  countRefusal(): void;
}

/**
 * A request that waits for its turn in a queue. It settles exactly once, whoever comes first: a grant, an
 * abort, the end of its time, the end of its limiter.
 */
export abstract class Waiter implements Abortable {
  /** @internal Neighbours in the queue. */
  older: Waiter | null = null;
  /** @internal */
  newer: Waiter | null = null;
  /** @internal */
  queue: WaitQueue | null = null;
  /** Where it waits; set by whoever lets it wait. */
  place: WaitingPlace | null = null;
  /** What it asks of the limiter in whose queue it is. */
  permits: number;
  /** When its time is over, in clock milliseconds. */
  deadlineMs = Infinity;
  /** @internal Where it stands among the deadlines of its queue. */
  deadlineIndex = -1;

  /** Settles when the wait ends. */
  readonly promise: Promise<RateLimitLease>;
  private resolve!: (lease: RateLimitLease) => void;
  private reject!: (reason: unknown) => void;
  private isSettled = false;
  private left: WaitingPlace | null = null;
  private readonly signal: AbortSignal | undefined;

  constructor(permits: number, signal: AbortSignal | undefined) {
    this.permits = permits;
    this.signal = signal;
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    if (signal !== undefined) subscribe(signal, this);
  }

  /** Whether it goes on by reserving: it stands before everybody else in its queue. */
  get isReserving(): boolean {
    return false;
  }

  /** Called when there is enough for it at the head of its queue; must leave that head or change its state. */
  abstract takeTurn(): void;

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
    if (!this.end()) return false;
    this.resolve(lease);
    return true;
  }

  /** Ends the wait with a refusal, by a limiter that goes on. */
  refuse(lease: RateLimitLease): void {
    this.giveUp();
    this.settle(lease);
  }

  /** Ends the wait with an error: what had to be asked for it has thrown. */
  fail(error: unknown): void {
    this.leave();
    this.giveUp();
    if (this.end()) this.reject(error);
  }

  onAbort(reason: unknown): void {
    if (!this.end()) return;
    this.left = this.leave();
    this.reject(reason);
  }

  afterAbort(): void {
    this.resume();
  }

  /**
   * Ends the wait before its time, with a refusal; {@link Waiter.resume} has to follow.
   *
   * @param _cause - what has ended and can never grant any more, where that isn't all that it waits for.
   */
  withdraw(lease: RateLimitLease, _cause?: object): void {
    this.left = this.leave();
    this.settle(lease);
  }

  /** Hands on what a waiter that has ended leaves: what it had taken, and its place. */
  resume(): void {
    this.giveUp();
    this.left?.resume();
    this.left = null;
  }

  /** Its time is over. */
  onDeadline(): void {
    const place = this.leave();
    const retryAfterMs = place?.retryAfterMs(this.permits);
    place?.countRefusal();
    this.refuse(new RefusedLease(REASON.waitLimitReached, retryAfterMs));
    place?.resume();
  }

  /** Leaves the queue and frees its room there; nobody is looked at yet. */
  protected leave(): WaitingPlace | null {
    const { place } = this;
    this.queue?.delete(this);
    return place;
  }

  private end(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    if (this.signal !== undefined) unsubscribe(this.signal, this);
    this.ended();
    return true;
  }
}
