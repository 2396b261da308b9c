import type { DecisionRequest } from './decision-request.js';
import type { GivingBack, LimiterGroup } from './limiter-group.js';

/** More requests than that go in several calls, so that none blocks the server for long. */
const MOST_AT_ONCE = 200;

/** Permits that are to be given back, and who wants to know of it. */
export interface PendingGivingBack extends GivingBack {
  readonly done: () => void;
}

/**
 * The way of a group's requests to the store: one call at a time, all that came meanwhile in the next. So the one
 * record that a process has in a partition tells of each call whether it was carried out already.
 */
export class Lane {
  readonly group: LimiterGroup;
  readonly givingBack: PendingGivingBack[] = [];
  isBusy = false;
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
    return !this.isBusy && this.#pending === null && this.givingBack.length === 0;
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

  add(request: DecisionRequest): void {
    if (this.#pending === null) this.#pending = [request];
    else this.#pending.push(request);
  }

  /** Puts requests back that were certainly not decided. */
  putBack(requests: readonly DecisionRequest[]): void {
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
