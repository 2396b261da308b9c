import type { Clock, ClockTimer } from '@ratelease/limiters';

/** Why a ticket is looked at: it may ask, a newer request took its place, or the limiter has ended. */
export type Call = 'turn' | 'evicted' | 'disposed';

/** So many of those in turn ask at once: in one call, which keeps their order. */
const MOST_AT_ONCE = 100;

/** A place in the queue of a rate. */
export class Ticket {
  readonly permits: number;
  /** Those of one lane ask in one call. */
  readonly lane: string;
  /** When the last refusal said that it is worth asking again, on the queue's clock. */
  readyAtMs: number;
  isAsking = false;
  /** Set once it has lost its place. */
  ended: Exclude<Call, 'turn'> | null = null;
  readonly #onCall: (call: Call) => void;

  constructor(permits: number, lane: string, readyAtMs: number, onCall: (call: Call) => void) {
    this.permits = permits;
    this.lane = lane;
    this.readyAtMs = readyAtMs;
    this.#onCall = onCall;
  }

  call(call: Call): void {
    if (call !== 'turn') this.ended = call;
    this.#onCall(call);
  }
}

/**
 * The requests of this process that wait for one rate. Only its time brings permits back, so they wait here: the first
 * one asks again at the moment that its refusal named, and those behind it in the same call.
 */
export class RateQueue {
  readonly #clock: Clock;
  readonly #isNewestFirst: boolean;
  readonly #onIdle: () => void;
  #tickets: Ticket[] = [];
  #timer: ClockTimer | null = null;
  #timerAtMs = Infinity;
  /** The sum of what the tickets ask for. */
  permits = 0;

  constructor(clock: Clock, isNewestFirst: boolean, onIdle: () => void) {
    this.#clock = clock;
    this.#isNewestFirst = isNewestFirst;
    this.#onIdle = onIdle;
  }

  get isEmpty(): boolean {
    return this.#tickets.length === 0;
  }

  /** Whether others come before a newcomer. */
  get isAhead(): boolean {
    return !this.#isNewestFirst && this.permits > 0;
  }

  /** Whether a newcomer has to stand behind others. */
  blocks(permits: number): boolean {
    return permits > 0 && this.isAhead;
  }

  /** Whether there is a place for so many, or one is made where the newest come first. */
  hasRoom(permits: number, queueLimit: number): boolean {
    const taken = this.#isNewestFirst ? 0 : this.permits;
    return permits === 0 || taken + permits <= queueLimit;
  }

  /** Takes a place for a ticket; where the newest come first, the oldest make room. */
  enter(ticket: Ticket, queueLimit: number): boolean {
    if (!this.#makeRoom(ticket.permits, queueLimit)) {
      if (this.isEmpty) this.#onIdle();
      return false;
    }
    if (this.#isNewestFirst) this.#tickets.unshift(ticket);
    else this.#tickets.push(ticket);
    this.permits += ticket.permits;
    this.#serve();
    return true;
  }

  /** The ticket has asked, and keeps its place: it asks again at that moment. */
  again(ticket: Ticket, readyAtMs: number): void {
    ticket.isAsking = false;
    ticket.readyAtMs = readyAtMs;
    this.#serve();
  }

  /** The limit is another: what refusals said before doesn't count. */
  askAnew(): void {
    for (const ticket of this.#tickets) ticket.readyAtMs = 0;
    this.#serve();
  }

  leave(ticket: Ticket): void {
    const index = this.#tickets.indexOf(ticket);
    if (index < 0) return;
    this.#tickets.splice(index, 1);
    this.permits -= ticket.permits;
    if (this.isEmpty) this.#disarm();
    else this.#serve();
    if (this.isEmpty) this.#onIdle();
  }

  /** The limiter has ended. */
  close(): void {
    this.#disarm();
    for (const ticket of this.#tickets.splice(0)) ticket.call('disposed');
    this.permits = 0;
  }

  #makeRoom(permits: number, queueLimit: number): boolean {
    if (!this.hasRoom(permits, queueLimit)) return false;
    const most = permits === 0 ? Infinity : queueLimit - permits;
    while (this.permits > most) {
      const oldest = this.#tickets.pop()!;
      this.permits -= oldest.permits;
      oldest.call('evicted');
    }
    return true;
  }

  /** Those in turn ask once the first of them may. */
  #serve(): void {
    const first = this.#tickets[0];
    if (first === undefined || first.isAsking) return;
    const delayMs = first.readyAtMs - this.#clock.now();
    if (delayMs > 0) return this.#arm(delayMs);
    this.#disarm();
    for (const ticket of this.#tickets.slice(0, MOST_AT_ONCE)) {
      if (ticket.isAsking || ticket.lane !== first.lane) break;
      ticket.isAsking = true;
      ticket.call('turn');
    }
  }

  #arm(delayMs: number): void {
    const atMs = this.#clock.now() + delayMs;
    if (this.#timer !== null && this.#timerAtMs === atMs) return;
    this.#disarm();
    this.#timerAtMs = atMs;
    this.#timer = this.#clock.setTimer(() => {
      this.#timer = null;
      this.#serve();
    }, delayMs);
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }
}
