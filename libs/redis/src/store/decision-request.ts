import type { Expirable, Watching } from './deadlines.js';
import type { LimiterGroup } from './limiter-group.js';

/** What a request asks for. */
export interface Question {
  readonly permits: number;
  /** Permits that wait before it: it is only looked at, for its waiting time. -1: it goes by the order. */
  readonly ahead: number;
  /** The lease's id, and whether it may wait (`w`), asks again (`a`) or neither (`n`); for concurrency. */
  readonly id: string;
  readonly flag: 'n' | 'w' | 'a';
}

/** How the limiters of a group stand after a decision: permits left and µs until all are back, for each. */
export type Standing = readonly { readonly remaining: number; readonly resetUs: number }[];

/** A request was granted. */
export interface Granted {
  readonly kind: 'granted';
  readonly standing: Standing;
  readonly nowUs: number;
}

/** A request was refused. */
export interface Refused {
  readonly kind: 'refused';
  /** The first limiter of the group that refuses. */
  readonly member: number;
  /** µs until it would grant, and until all that refuse would; -1 where unknown. */
  readonly waitUs: number;
  readonly longestUs: number;
  readonly standing: Standing;
}

/** What the store answers. */
export type Answer =
  | Granted
  | Refused
  | { readonly kind: 'waiting'; readonly member: number; readonly standing: Standing; readonly nowUs: number }
  | { readonly kind: 'unavailable' };

const UNAVAILABLE: Answer = { kind: 'unavailable' };

/** A question on its way to the store and back. */
export abstract class DecisionRequest implements Expirable {
  readonly group: LimiterGroup;
  readonly question: Question;
  readonly sinceMs: number;
  readonly deadlineMs: number;
  isSettled = false;
  /** Whether the server may have been asked. */
  isSent = false;
  watching: Watching | null = null;

  constructor(group: LimiterGroup, question: Question) {
    this.group = group;
    this.question = question;
    this.sinceMs = performance.now();
    this.deadlineMs = this.sinceMs + group.timeoutMs;
  }

  /** Hands the answer on, or to the one who tidies up after a request that was given up. */
  answer(answer: Answer): void {
    if (this.isSettled) this.onLate(answer);
    else this.#settle(answer);
  }

  /** There is no answer. */
  fail(): void {
    this.answer(UNAVAILABLE);
  }

  expire(): void {
    if (this.isSettled) return;
    this.#settle(UNAVAILABLE);
    this.onExpired();
  }

  /** Nobody waits for the answer any more. */
  giveUp(): void {
    if (!this.isSettled) this.#settle(UNAVAILABLE);
  }

  #settle(answer: Answer): void {
    this.isSettled = true;
    this.watching?.settled();
    this.onAnswer(answer);
  }

  protected abstract onAnswer(answer: Answer): void;
  /** The store answers a question that nobody asks any more. */
  protected abstract onLate(answer: Answer): void;
  /** The answer did not come in time. */
  protected abstract onExpired(): void;
}
