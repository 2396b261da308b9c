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
