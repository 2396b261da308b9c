import type { HandlingContext } from '../context/handling-context.js';
import type { Acquisition } from '../endpoints/endpoint-plan.js';
import { isLettable } from '../errors/is-lettable.js';
import { isPromise } from '../policies/is-promise.js';
import type { PolicySet } from '../policies/policy-set.js';
import type { Visibility } from '../visibility/visibility.js';
import { permitsOf } from './permit-count.js';
import type { MaybeQuestion } from './question.js';

/**
 * How many permits an endpoint asks of its policies; `undefined` where they don't apply. A promise only where the
 * application's code gives one.
 */
export function askedPermits(
  acquisition: Acquisition,
  context: HandlingContext,
  visibility: Visibility,
): number | undefined | Promise<number | undefined> {
  const letThrough = (error: unknown): undefined => {
    const own = acquisition.set?.endpointPolicies ?? [];
    const failsOpen = own.length > 0 && own.every((policy) => policy.failsOpen);
    if (!failsOpen || !isLettable(error, context)) throw error;
    visibility.noteLetThrough(own, error, context);
  };
  try {
    const permits = permitsWhere(acquisition, context);
    return isPromise(permits) ? permits.catch(letThrough) : permits;
  } catch (error) {
    return letThrough(error);
  }
}

function permitsWhere(
  acquisition: Acquisition,
  context: HandlingContext,
): number | undefined | Promise<number | undefined> {
  // A condition that answers with nothing says no, and none at all says yes.
  const applies = acquisition.when === undefined || acquisition.when(context);
  if (!isPromise(applies)) return applies ? permitsOf(acquisition, context) : undefined;
  return Promise.resolve(applies).then((does) => (does ? permitsOf(acquisition, context) : undefined));
}

/** What is asked where an endpoint asks for so many permits: of the global limiter alone, where its own policies don't apply. */
export function questionFor(
  asked: Omit<MaybeQuestion, 'permits'>,
  permits: number | undefined,
): [question: MaybeQuestion, shadows: readonly PolicySet[]] {
  const { shadows, otherwise } = asked.acquisition;
  if (permits !== undefined) return [{ ...asked, permits }, shadows];
  const everywhere = shadows.filter((shadow) => shadow.isGlobal(shadow.policies[0]));
  return [{ ...asked, set: otherwise, permits: 1 }, everywhere];
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
