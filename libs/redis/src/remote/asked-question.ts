import type { Answer, Question } from '../store/decision-request.js';
import { DecisionRequest } from '../store/decision-request.js';
import type { LimiterGroup } from '../store/limiter-group.js';
import type { Store } from '../store/store.js';

/** A question whose answer is a promise, for an acquisition that goes on after it. */
export class AskedQuestion extends DecisionRequest {
  readonly settled: Promise<Answer>;
  #resolve!: (answer: Answer) => void;
  #answer: Answer | undefined;
  readonly #store: Store;
  readonly #onAbandoned: (() => void) | undefined;

  constructor(store: Store, group: LimiterGroup, question: Question, { onAbandoned, sinceMs }: Asking = {}) {
    super(group, question, sinceMs);
    this.#store = store;
    this.#onAbandoned = onAbandoned;
    this.settled = new Promise((resolve) => (this.#resolve = resolve));
    store.ask(this);
  }

  /** Nobody wants the answer any more, also where it has come a moment ago and was not read yet. */
  override giveUp(): void {
    if (this.#answer === undefined) super.giveUp();
    else if (this.#answer.kind !== 'unavailable') this.onLate(this.#answer);
  }

  /** What the server has made of it nobody knows. */
  override fail(): void {
    const isAwaited = !this.isSettled;
    super.fail();
    if (isAwaited && this.isSent) this.#onAbandoned?.();
  }

  protected override onAnswer(answer: Answer): void {
    this.#answer = answer;
    this.#resolve(answer);
  }

  /** What was granted to nobody is given back. */
  protected override onLate(answer: Answer): void {
    const { permits } = this.question;
    if (answer.kind === 'granted' && permits > 0) void this.#store.giveBack(this.group, permits, answer);
    if (answer.kind !== 'refused' && this.isSent) this.#onAbandoned?.();
  }

  protected override onExpired(): void {
    this.#store.timedOut(this);
  }
}

/** On whose behalf it is asked. */
export interface Asking {
  /** Called, once, when the server has granted it or let it wait, or may have, and nobody asks any more. */
  readonly onAbandoned?: () => void;
  /** When the question was asked that it goes on from. */
  readonly sinceMs?: number | undefined;
}
