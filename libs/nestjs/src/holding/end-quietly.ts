import { systemClock } from '@ratelease/limiters';
import type { PolicySet } from '../policies/policy-set.js';
import { TroubleLog } from '../visibility/trouble-log.js';

/** For each application its own: a policy set is one's. */
const troubles = new WeakMap<PolicySet, TroubleLog>();

/**
 * Ends a lease at a moment when nobody is there who could be told of a failure: thrown, it would end the process, or
 * keep others from their end. The log tells it.
 */
export function endQuietly(lease: { dispose(): void }, set: PolicySet): void {
  try {
    lease.dispose();
  } catch (error) {
    note(set, error);
  }
}

function note(set: PolicySet, error: unknown): void {
  let log = troubles.get(set);
  if (log === undefined) troubles.set(set, (log = new TroubleLog(systemClock)));
  log.noteFailedEnd(set.policies.map(({ name }) => name).join(), error);
}
