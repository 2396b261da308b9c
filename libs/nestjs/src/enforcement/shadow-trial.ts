import type { RateLimitLease } from '@ratelease/limiters';
import { MetadataName } from '@ratelease/limiters';
import type { HandlingContext } from '../context/handling-context.js';
import { isAboveLimit } from '../errors/is-above-limit.js';
import { endQuietly } from '../holding/end-quietly.js';
import { Grant } from '../holding/grant.js';
import type { Holder } from '../holding/holder.js';
import type { PolicySet } from '../policies/policy-set.js';
import { AboveLimitLease } from '../rejection/above-limit-lease.js';
import type { Visibility } from '../visibility/visibility.js';

/** For whom shadow policies decide. */
export interface Trial {
  readonly endpoint: string;
  readonly permits: number;
  readonly holder: Holder;
}

/**
 * Asks the policies in shadow mode: they take what they grant and count what they would refuse, and nobody feels
 * it. Each is asked by itself, when the request has passed the others, and nobody waits for it.
 */
export class ShadowTrial {
  readonly #visibility: Visibility;

  constructor(visibility: Visibility) {
    this.#visibility = visibility;
  }

  /** Never rejects: a shadow that fails must not end a request. */
  async tryAll(shadows: readonly PolicySet[], trial: Trial): Promise<void> {
    for (const shadow of shadows) {
      try {
        await this.#try(shadow, trial);
      } catch (error) {
        this.#visibility.noteShadowFailure(shadow.policies[0].name, error);
      }
    }
  }

  async #try(set: PolicySet, { endpoint, permits, holder }: Trial): Promise<void> {
    const { context } = holder;
    await set.choosePartitions(context);
    const observation = this.#visibility.observe({ set, permits, endpoint, context });
    const lease = await ask(set, context, permits);
    if (lease.isAcquired) {
      set.noteGranted(permits);
      observation?.acquired();
      // Nothing depends on what a shadow holds.
      holder.keep(new Grant(lease, set, permits, observation), false);
      return;
    }
    const [policy] = set.policies;
    policy.counters.refused++;
    const reason = set.isGlobal(policy) ? 'global' : 'endpoint';
    const retryAfterMs = lease.getMetadata(MetadataName.retryAfter);
    observation?.refused({ policyName: policy.name, reason, retryAfterMs }, true);
    this.#visibility.log(policy, 'shadow', context, lease);
    endQuietly(lease, set);
  }
}

async function ask(set: PolicySet, context: HandlingContext, permits: number): Promise<RateLimitLease> {
  try {
    return await set.ask(context, permits, () => ({ signal: context.signal, maxWaitMs: 0 }));
  } catch (error) {
    if (isAboveLimit(error)) return new AboveLimitLease();
    throw error;
  }
}
