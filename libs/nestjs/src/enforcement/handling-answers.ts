import type { HandlingContext } from '../context/handling-context.js';
import { PromisedAnswers } from '../policies/promised-answers.js';
import { ShutdownError } from '../rejection/shutdown-error.js';

/** Handlings that wait for what code of the application has promised. */
export class HandlingAnswers {
  readonly #answers = new PromisedAnswers();

  /**
   * Waits for an answer.
   *
   * @param endsWithClient - `false` where a client that leaves changes nothing.
   * @returns a promise that rejects with the reason why the handling was aborted, where that comes first.
   */
  async wait<T>(answer: Promise<T>, context: HandlingContext, endsWithClient = true): Promise<T> {
    try {
      return await this.#answers.wait(answer, endsWithClient ? context.signal : undefined);
    } catch (error) {
      if (error instanceof ShutdownError) context.abort(error);
      throw error;
    }
  }

  /** The application ends. */
  end(): void {
    this.#answers.end(new ShutdownError());
  }
}
