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
  #pending: DecisionRequest[] = [];

  constructor(group: LimiterGroup) {
    this.group = group;
  }

  get isIdle(): boolean {
    return !this.isBusy && this.#pending.length === 0 && this.givingBack.length === 0;
  }

  add(request: DecisionRequest): void {
    this.#pending.push(request);
  }

  /** Puts requests back that were certainly not decided. */
  putBack(requests: readonly DecisionRequest[]): void {
    this.#pending = [...requests, ...this.#pending];
  }

  /** The requests of the next call: those that somebody still waits for. */
  takeNext(): DecisionRequest[] {
    const pending = this.#pending;
    const waiting = pending.every(isUnsettled) ? pending : pending.filter(isUnsettled);
    this.#pending = waiting.length > MOST_AT_ONCE ? waiting.splice(MOST_AT_ONCE) : [];
    for (const request of waiting) request.isSent = true;
    return waiting;
  }

  /** Everything that was not sent yet. */
  takeAll(): DecisionRequest[] {
    return this.#pending.splice(0);
  }
}

function isUnsettled(request: DecisionRequest): boolean {
  return !request.isSettled;
}
