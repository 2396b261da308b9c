import type { DecisionRequest } from './decision-request.js';
import type { LimiterGroup } from './limiter-group.js';
import type { AnswerReader } from './read-answers.js';

/** More requests than that go in several calls, so that none blocks the server for long. */
const MOST_AT_ONCE = 200;

/** A grant that is to be given back, as the script is told of it, and who wants to know when that is done. */
export interface PendingGivingBack {
  readonly grant: readonly string[];
  readonly done: () => void;
}

/** A call that gives grants back. */
export interface GivingBack {
  readonly grants: readonly PendingGivingBack[];
  /** Tells a call that is sent again from the next. */
  readonly sequence: string;
  /** How often it was sent. */
  sent: number;
}

/**
 * The way of a group's requests to the store: one call at a time, all that came meanwhile in the next. So the one
 * record that a process has in a partition tells of each call whether it was carried out already.
 */
export class Lane {
  readonly group: LimiterGroup;
  readonly #givingBack: PendingGivingBack[] = [];
  /** A call whose connection was lost before the answer: it comes first, so that its record tells whether it counts. */
  interrupted: GivingBack | null = null;
  isBusy = false;
  /** When the last call was sent. */
  sentMs = 0;
  isDue = false;
  /** Whether it is the one to which the name of its group leads. */
  isKnown = false;
  /**
   * Made for the first request, not before: an empty list that has lived for long would be an old object, and keep what
   * it leads to beyond the collections of young ones, when nobody needs it any more.
   */
  #pending: DecisionRequest[] | null = null;
  #onIdle: (() => void) | null = null;

  constructor(group: LimiterGroup) {
    this.group = group;
  }

  get isIdle(): boolean {
    return !this.isBusy && this.#pending === null && !this.givesBack;
  }

  /** Resolves when nothing goes on here any more. */
  untilIdle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => (this.#onIdle = resolve));
  }

  /** To be called when something has ended here. */
  tellIfIdle(): void {
    if (this.#onIdle !== null && this.isIdle) this.#onIdle();
  }

  /** A call begins that is sent at once. */
  beginCall(): void {
    this.isBusy = true;
    this.sentMs = performance.now();
  }

  add(request: DecisionRequest): void {
    if (this.#pending === null) this.#pending = [request];
    else this.#pending.push(request);
  }

  /** Whether anything is to be given back here. */
  get givesBack(): boolean {
    return this.#givingBack.length > 0 || this.interrupted !== null;
  }

  addGivingBack(grant: PendingGivingBack): void {
    this.#givingBack.push(grant);
  }

  /** What the next call gives back. */
  takeGivingBack(nextSequence: () => string): GivingBack {
    const again = this.interrupted;
    this.interrupted = null;
    return again ?? { grants: this.#givingBack.splice(0, MOST_AT_ONCE), sequence: nextSequence(), sent: 0 };
  }

  /** Gives nothing back any more. */
  forgetGivingBack(): void {
    for (const { done } of this.interrupted?.grants ?? []) done();
    for (const { done } of this.#givingBack.splice(0)) done();
    this.interrupted = null;
  }

  /** Hands the answers on. What was not decided comes next again, and where they came too early, what was refused. */
  answer(requests: readonly DecisionRequest[], reader: AnswerReader, isEarly: boolean): void {
    if (reader.isTooLate()) return this.#putBack(requests);
    let refused: DecisionRequest[] | null = null;
    for (const request of requests) {
      const answer = reader.next(this.group.definitions.length);
      if (isEarly && answer.kind === 'refused' && request.refusedEarly(answer))
        (refused ??= []).push(request);
      else request.answer(answer);
    }
    if (refused !== null) this.#putBack(refused);
  }

  #putBack(requests: readonly DecisionRequest[]): void {
    if (requests.length > 0) this.#pending = [...requests, ...(this.#pending ?? [])];
  }

  /** The requests of the next call: those that somebody still waits for. */
  takeNext(): DecisionRequest[] {
    const pending = this.takeAll();
    const waiting = pending.every(isUnsettled) ? pending : pending.filter(isUnsettled);
    if (waiting.length > MOST_AT_ONCE) this.#pending = waiting.splice(MOST_AT_ONCE);
    for (const request of waiting) request.isSent = true;
    return waiting;
  }

  /** Everything that was not sent yet. */
  takeAll(): DecisionRequest[] {
    const pending = this.#pending;
    this.#pending = null;
    return pending ?? [];
  }
}

function isUnsettled(request: DecisionRequest): boolean {
  return !request.isSettled;
}
