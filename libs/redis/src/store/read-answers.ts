import { LATE } from '../scripts/compose-script.js';
import type { Answer } from './decision-request.js';
import type { Standing } from './standing.js';

/** Reads the flat list of numbers with which the deciding script answers. */
export class AnswerReader {
  readonly #numbers: readonly number[];
  #at = 1;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** The server's time at the decision, in µs. */
  get nowUs(): number {
    return this.#numbers[0]!;
  }

  /** Whether nothing was decided for the next group of the call, as it came after its deadline; reads that. */
  isTooLate(): boolean {
    if (this.#numbers[this.#at] !== LATE) return false;
    this.#at++;
    return true;
  }

  /** Reads the answer to the next request of the call, which asks so many limiters. */
  next(limiters: number): Answer {
    const code = this.#numbers[this.#at++]!;
    if (code === 0) return { kind: 'granted', standing: this.#standing(limiters), nowUs: this.nowUs };
    const waitUs = this.#numbers[this.#at++]!;
    const longestUs = this.#numbers[this.#at++]!;
    const standing = this.#standing(limiters);
    if (code < 0) return { kind: 'waiting', member: -code - 1, standing, nowUs: this.nowUs };
    return { kind: 'refused', member: code - 1, waitUs, longestUs, standing };
  }

  #standing(limiters: number): Standing {
    // A list that grows makes room for more than one.
    if (limiters === 1) return [this.#standingOfOne()];
    const standing = [];
    for (let limiter = 0; limiter < limiters; limiter++) standing.push(this.#standingOfOne());
    return standing;
  }

  #standingOfOne(): Standing[number] {
    const remaining = Math.max(0, this.#numbers[this.#at]!);
    const resetUs = this.#numbers[this.#at + 1]!;
    this.#at += 2;
    return { remaining, resetUs };
  }
}

/**
 * The list of numbers with which the scripts reply; `null`: it is something else. A client can be told to read all
 * numbers as texts, for the sake of those that a double can't tell exactly: ours can.
 */
export function numbersIn(reply: unknown): readonly number[] | null {
  if (!Array.isArray(reply)) return null;
  if (typeof reply[0] === 'number') return reply as number[];
  const numbers = reply.map(Number);
  return numbers.length > 0 && numbers.every(Number.isFinite) ? numbers : null;
}
