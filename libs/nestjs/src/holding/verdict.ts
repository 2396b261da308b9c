/** What a phase comes to: whether the handling goes on, or, where that takes time, the promise of it. */
export type Decision = boolean | Promise<boolean>;

/**
 * A refusal, or another error. It is handed up, and thrown only where Nest has to catch it: throwing costs as much as
 * all the rest, and V8 never optimizes functions that end by nothing else.
 */
export class FailedDecision {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** A decision, or why there is none. */
export type Verdict = Decision | FailedDecision;

/** The decision; throws where there is none. */
export function decisionOf(verdict: Verdict): Decision {
  if (verdict instanceof FailedDecision) throw verdict.error;
  return verdict;
}

/**
 * What a guard answers to Nest: `true`, or a promise. A refusal is a promise that fails in a moment, when Nest waits
 * for it already. Where a guard throws at once, Node notes an unhandled rejection, and takes that back, for each of the
 * functions through which Nest passes it on: that takes longer than waiting for a moment.
 *
 * @param unanswered - what Nest waits for where the response was sent already.
 */
export function answerOf(verdict: Verdict, unanswered: () => Promise<never>): boolean | Promise<boolean> {
  if (verdict === true) return true;
  if (verdict instanceof FailedDecision) return failure(verdict.error);
  if (verdict instanceof Promise) return verdict.then((goesOn) => goesOn || unanswered());
  return unanswered();
}

async function failure(error: unknown): Promise<never> {
  await undefined;
  throw error;
}
