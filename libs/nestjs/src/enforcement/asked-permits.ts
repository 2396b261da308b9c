import type { HandlingContext } from '../context/handling-context.js';
import type { Acquisition } from '../endpoints/endpoint-plan.js';
import { isLettable } from '../errors/is-lettable.js';
import type { Visibility } from '../visibility/visibility.js';
import { permitsOf } from './permit-count.js';
import type { MaybeQuestion } from './question.js';

/** How many permits an endpoint asks of its policies; `undefined` where they don't apply. */
export async function askedPermits(
  acquisition: Acquisition,
  context: HandlingContext,
  visibility: Visibility,
): Promise<number | undefined> {
  try {
    const applies = acquisition.when === undefined || (await acquisition.when(context));
    return applies ? await permitsOf(acquisition, context) : undefined;
  } catch (error) {
    const own = acquisition.set?.endpointPolicies ?? [];
    const failsOpen = own.length > 0 && own.every((policy) => policy.failsOpen);
    if (!failsOpen || !isLettable(error, context)) throw error;
    visibility.noteLetThrough(own, error, context);
    return undefined;
  }
}

/**
 * Whether a client that leaves is reason enough to end the request, whatever its condition comes to: one that turns out to
 * have no limit at all, and holds nothing, is served as without the module.
 */
export function isDecidedWithoutClient({
  acquisition,
  holder,
}: Pick<MaybeQuestion, 'acquisition' | 'holder'>): boolean {
  return acquisition.when === undefined || acquisition.otherwise !== null || holder.hasHeld;
}
