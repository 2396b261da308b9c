import type { HandlingContext } from '../context/handling-context.js';
import type { Holder } from '../holding/holder.js';
import { PromisedAnswers } from '../policies/promised-answers.js';
import { hasBegunToAnswer } from '../rejection/run-on-rejected.js';
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

  /** The same for what a decision needs; rejects as well where nobody waits for the decision any more. */
  async forDecision<T>(answer: Promise<T>, holder: Holder, endsWithClient: boolean): Promise<T> {
    const { context } = holder;
    const { signal } = context;
    holder.beginAsking();
    try {
      const given = await this.wait(answer, context, endsWithClient);
      // Of a client that has left others think, who know whether that counts.
      if (signal.aborted && context.abortReason === undefined) throw signal.reason;
      return given;
    } finally {
      holder.endAsking();
    }
  }

  /** The same for a say on a refusal. A response that it has begun is its own to end, whatever else comes. */
  async forSay(say: Promise<boolean>, context: HandlingContext): Promise<boolean> {
    try {
      return await this.wait(say, context, false);
    } catch (error) {
      if (error === context.abortReason && hasBegunToAnswer(context)) return say;
      throw error;
    }
  }

  /** The application ends. */
  end(): void {
    this.#answers.end(new ShutdownError());
  }
}
