import type { EarlyEnd, Wait } from '../remote/wait.js';
import type { Call, RateQueue } from './rate-queue.js';
import { Ticket } from './rate-queue.js';

/** How a wait in the queue of a rate ends. */
export type QueueEnd = Call | EarlyEnd;

/** The place that a request has in the queue of a rate, if any. */
export class QueuePlace {
  #queue: RateQueue | null = null;
  #ticket: Ticket | null = null;
  #onCall: ((call: Call) => void) | null = null;

  /**
   * Takes a place, or keeps the one that it has in this queue.
   *
   * @param lane - requests of one lane ask in one call.
   * @returns `false` when there is no room.
   */
  take(queue: RateQueue, permits: number, queueLimit: number, { lane, readyAtMs }: Asking): boolean {
    if (this.#ticket !== null && this.#queue === queue) {
      queue.again(this.#ticket, readyAtMs);
      return true;
    }
    this.leave();
    const ticket = new Ticket(permits, lane, readyAtMs, (call) => this.#onCall?.(call));
    this.#queue = queue;
    this.#ticket = ticket;
    if (queue.enter(ticket, queueLimit)) return true;
    this.#queue = null;
    this.#ticket = null;
    return false;
  }

  /** Whether it has one. */
  get isTaken(): boolean {
    return this.#ticket !== null;
  }

  /** Waits for the turn, or for an earlier end. */
  async wait(wait: Wait): Promise<QueueEnd> {
    const ticket = this.#ticket!;
    // It may have been called while it asked, or as it came.
    if (ticket.ended !== null) return ticket.ended;
    if (ticket.isAsking) return 'turn';
    const called = new Promise<Call>((resolve) => (this.#onCall = resolve));
    return wait.race(called, () => undefined);
  }

  /** Milliseconds, at least 1, until it would have asked again; `undefined` where nobody has told. */
  retryAfterMs(nowMs: number): number | undefined {
    const readyAtMs = this.#ticket?.readyAtMs;
    return readyAtMs === undefined || readyAtMs === 0 ? undefined : Math.max(1, Math.ceil(readyAtMs - nowMs));
  }

  leave(): void {
    const ticket = this.#ticket;
    if (ticket === null) return;
    this.#ticket = null;
    this.#queue?.leave(ticket);
    this.#queue = null;
  }
}

interface Asking {
  readonly lane: string;
  readonly readyAtMs: number;
}
