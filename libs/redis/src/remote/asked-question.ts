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
  readonly #onGrantedLate: (() => void) | undefined;

  constructor(
    store: Store,
    group: LimiterGroup,
    question: Question,
    { onGrantedLate, sinceMs }: Asking = {},
  ) {
    super(group, question, sinceMs);
    this.#store = store;
    this.#onGrantedLate = onGrantedLate;
    this.settled = new Promise((resolve) => (this.#resolve = resolve));
    store.ask(this);
  }

  /** Nobody wants the answer any more, also where it has come a moment ago and was not read yet. */
  override giveUp(): void {
    if (this.#answer === undefined) super.giveUp();
    else this.onLate(this.#answer);
  }

  protected override onAnswer(answer: Answer): void {
    this.#answer = answer;
    this.#resolve(answer);
  }

  /** What was granted to nobody is given back. */
  protected override onLate(answer: Answer): void {
    const { permits } = this.question;
    if (answer.kind === 'granted' && permits > 0) void this.#store.giveBack(this.group, permits, answer);
    if (answer.kind === 'granted' || answer.kind === 'waiting') this.#onGrantedLate?.();
  }

  protected override onExpired(): void {
    this.#store.health.timedOut(this.sinceMs);
  }
}

/** On whose behalf it is asked. */
export interface Asking {
  /** Called when the server has granted it, or let it wait, and nobody asks any more. */
  readonly onGrantedLate?: () => void;
  /** When the question was asked that it goes on from. */
  readonly sinceMs?: number | undefined;
}
