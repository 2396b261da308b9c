import type { HandlingContext } from '../context/handling-context.js';
import type { CompiledPolicy } from '../policies/compiled-policy.js';

/** What an event is about, for one of its policies. */
export interface PolicyDetail {
  /** The policy's name; `global` for the global limiter. */
  readonly policy: string;
  /**
   * The key that the policy chose for the request; `undefined` for a limiter of yours, which keeps its keys to
   * itself. It may be personal data: what shows it is your decision.
   */
  readonly key: unknown;
  /** Requests of all keys that wait at present. */
  readonly queued: number;
  /** Permits of all keys in leases that aren't back yet; 0 for what is known to be a rate. */
  readonly inUse: number;
  /** Whether its leases hold permits until they go back; `true` where nobody knows. */
  readonly holdsPermits: boolean;
  /** Whether requests can wait in its queue; `true` where nobody knows. */
  readonly mayWait: boolean;
}

/** The detail of a policy, at the moment of a call. */
export function detailOf(
  { name, index, counters, holdsPermits, mayWait }: CompiledPolicy,
  context: HandlingContext,
): PolicyDetail {
  const { queued, inUse } = counters;
  const key = context.chosenPartition(index)?.partitionKey;
  return { policy: name, key, queued, inUse, holdsPermits, mayWait };
}
