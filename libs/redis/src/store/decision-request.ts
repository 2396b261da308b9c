import type { Expirable, Watching } from './deadlines.js';
import type { LimiterGroup } from './limiter-group.js';
import type { Standing } from './standing.js';

/** What a request asks for. */
export interface Question {
  readonly permits: number;
  /** Permits that wait before it: it is only looked at, for its waiting time. -1: it goes by the order. */
  readonly ahead: number;
  /** The lease as the server keeps it (`id*permits`), and whether it may wait (`w`), asks again (`a`) or neither (`n`); for concurrency. */
  readonly id: string;
  readonly flag: 'n' | 'w' | 'a';
}

/** A request was granted. */
export interface Granted {
  readonly kind: 'granted';
  readonly standing: Standing;
  readonly nowUs: number;
}

/** A waiting time that is unknown, of a limiter of concurrency whose queue has no place for the request. */
export const NO_ROOM = -2;

/** A request was refused. */
export interface Refused {
  readonly kind: 'refused';
  /** The first limiter of the group that refuses. */
  readonly member: number;
  /** µs until it would grant, and until all that refuse would; negative where unknown; see {@link NO_ROOM}. */
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

/** So often a question is asked again that has overtaken what goes before it. */
const MOST_OVERTAKINGS = 3;
const UNAVAILABLE: Answer = { kind: 'unavailable' };

/** A question on its way to the store and back. */
export abstract class DecisionRequest implements Expirable {
  readonly group: LimiterGroup;
  readonly question: Question;
  readonly sinceMs: number;
  readonly deadlineMs: number;
  /** Whether it was asked already, and asks on within the same time. */
  readonly goesOn: boolean;
  isSettled = false;
  /** Whether the server may have been asked. */
  isSent = false;
  watching: Watching | null = null;
  #overtakings = 0;
  /** The store's answer to a question that has overtaken what goes before it, as long as there is no other. */
  #early: Refused | null = null;

  /** @param sinceMs - when the question was asked that it goes on from; by default it is the first. */
  constructor(group: LimiterGroup, question: Question, sinceMs?: number) {
    this.group = group;
    this.question = question;
    this.goesOn = sinceMs !== undefined;
    this.sinceMs = sinceMs ?? performance.now();
    this.deadlineMs = this.sinceMs + group.timeoutMs;
  }

  /** Hands the answer on, or to the one who tidies up after a request that was given up. */
  answer(answer: Answer): void {
    if (this.isSettled) this.onLate(answer);
    else this.#settle(answer);
  }

  /**
   * It was refused, but has overtaken what goes before it.
   * @returns whether it is to be asked again: what can't be given back at all is not waited for without end.
   */
  refusedEarly(refused: Refused): boolean {
    if (this.isSettled || this.#overtakings++ === MOST_OVERTAKINGS) return false;
    this.#early = refused;
    return true;
  }

  /** It was sent, or waits for the answer to what was sent before it. */
  get isUnderway(): boolean {
    return this.isSent || this.group.lane?.isBusy === true;
  }

  /** There is no answer. */
  fail(): void {
    this.answer(UNAVAILABLE);
  }

  expire(): void {
    if (this.isSettled) return;
    // A store that has refused does answer, also where it was not told in time of what went before.
    if (this.#early !== null) return this.#settle(this.#early);
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
