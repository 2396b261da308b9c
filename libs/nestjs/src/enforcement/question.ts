import type { Acquisition } from '../endpoints/endpoint-plan.js';
import type { Holder } from '../holding/holder.js';
import type { PolicySet } from '../policies/policy-set.js';
import type { Observation } from '../visibility/observation.js';

/** What is asked for: so many permits of a policy set. */
export interface Question {
  readonly acquisition: Acquisition;
  readonly set: PolicySet;
  readonly permits: number;
  readonly holder: Holder;
  /** Where somebody watches. */
  readonly observation?: Observation | undefined;
}

/** A question that may ask nobody. */
export type MaybeQuestion = Omit<Question, 'set'> & { readonly set: PolicySet | null };
