import type { Answer } from '../store/decision-request.js';
import { DecisionRequest } from '../store/decision-request.js';
import type { LimiterGroup } from '../store/limiter-group.js';

/** A request for permits that nobody has asked for yet. It goes in the call of the request that found none. */
export class Reservation extends DecisionRequest {
  /** When it was asked for, by the clock of the limiter: the server decides later than that. */
  readonly askedMs: number;
  readonly #size: { permits: number };
  readonly #onAnswer: (answer: Answer) => void;
  readonly #onLate: (answer: Answer, permits: number) => void;

  constructor(group: LimiterGroup, permits: number, { askedMs, onAnswer, onLate }: Reserving) {
    const question = { permits, ahead: 0, id: '', flag: 'n' as const };
    super(group, question);
    this.#size = question;
    this.askedMs = askedMs;
    this.#onAnswer = onAnswer;
    this.#onLate = onLate;
  }

  /** More are wanted. To be called only as long as it was not sent. */
  growTo(permits: number): void {
    this.#size.permits = Math.max(this.#size.permits, permits);
  }

  protected override onAnswer(answer: Answer): void {
    this.#onAnswer(answer);
  }

  protected override onLate(answer: Answer): void {
    this.#onLate(answer, this.question.permits);
  }

  /** The request that it goes with tells that the server does not answer. */
  protected override onExpired(): void {}
}

/** Who reserves, and when. */
interface Reserving {
  readonly askedMs: number;
  readonly onAnswer: (answer: Answer) => void;
  readonly onLate: (answer: Answer, permits: number) => void;
}
