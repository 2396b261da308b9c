import type { Answer, DecisionRequest } from './decision-request.js';

/** Reads the flat list of numbers with which the deciding script answers. */
export class AnswerReader {
  readonly #numbers: readonly number[];
  #at = 1;

  /** @throws Error - when it is no list of numbers. */
  constructor(reply: unknown) {
    if (!Array.isArray(reply) || typeof reply[0] !== 'number')
      throw new Error(`The server answered a decision with ${typeof reply}.`);
    this.#numbers = reply as number[];
  }

  /** The server's time at the decision, in µs. */
  get nowUs(): number {
    return this.#numbers[0]!;
  }

  /** Nothing was decided: the command came after its deadline. */
  get isTooLate(): boolean {
    return this.#numbers.length === 1;
  }

  /** Reads the answer to the next request of the call. */
  next(request: DecisionRequest): Answer {
    const code = this.#numbers[this.#at++]!;
    if (code === 0) return { kind: 'granted', standing: this.#standing(request), nowUs: this.nowUs };
    const waitUs = this.#numbers[this.#at++]!;
    const longestUs = this.#numbers[this.#at++]!;
    const standing = this.#standing(request);
    if (code < 0) return { kind: 'waiting', member: -code - 1, standing, nowUs: this.nowUs };
    return { kind: 'refused', member: code - 1, waitUs, longestUs, standing };
  }

  #standing(request: DecisionRequest): { remaining: number; resetUs: number }[] {
    return request.group.definitions.map(() => ({
      remaining: Math.max(0, this.#numbers[this.#at++]!),
      resetUs: this.#numbers[this.#at++]!,
    }));
  }
}
