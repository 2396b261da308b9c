import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import type { Acquisition } from '../endpoints/endpoint-plan.js';
import { isCount } from '../endpoints/plan-book.js';
import { InvalidDecisionError } from '../errors/invalid-decision-error.js';
import { shown } from '../errors/shown.js';
import { isPromise } from '../policies/is-promise.js';

/**
 * How many permits an endpoint asks for; a promise only where its function gives one.
 *
 * @throws InvalidDecisionError - where its function returns what is no number of permits.
 */
export function permitsOf(
  { endpoint, permitCount }: Acquisition,
  context: RateLimitingContext,
): number | Promise<number> {
  if (typeof permitCount === 'number') return permitCount;
  const permits: unknown = permitCount(context);
  const checked = (given: unknown): number => {
    if (isCount(given)) return given;
    throw new InvalidDecisionError(
      `${endpoint}: permitCount must return an integer of at least 0, but returned ${shown(given)}.`,
    );
  };
  return isPromise(permits) ? Promise.resolve(permits).then(checked) : checked(permits);
}
