/** What a phase comes to: whether the handling goes on, or, where that takes time, the promise of it. */
export type Decision = boolean | Promise<boolean>;

const FAILED = Symbol.for('ratelease.failed-decision');

/**
 * A refusal, or another error. It is handed up, and thrown only where Nest has to catch it: throwing costs as much as
 * all the rest, and V8 never optimizes functions that end by nothing else.
 */
export class FailedDecision {
  readonly [FAILED] = true;
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** A decision, or why there is none. */
export type Verdict = Decision | FailedDecision;

/**
 * Whether there is no decision. By a brand: a guard of one loaded copy of this package hands up what the application's
 * copy has decided, and must not take a refusal for a grant.
 */
export function isFailed(verdict: Verdict): verdict is FailedDecision {
  return typeof verdict === 'object' && FAILED in verdict;
}

/** The decision; throws where there is none. */
export function decisionOf(verdict: Verdict): Decision {
  if (isFailed(verdict)) throw verdict.error;
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
  if (isFailed(verdict)) return failure(verdict.error);
  if (verdict instanceof Promise) return verdict.then((goesOn) => goesOn || unanswered());
  return unanswered();
}

async function failure(error: unknown): Promise<never> {
  await undefined;
  throw error;
}
