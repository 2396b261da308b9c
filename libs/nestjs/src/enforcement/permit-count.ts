import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import type { Acquisition } from '../endpoints/endpoint-plan.js';
import { isCount } from '../endpoints/plan-book.js';
import { InvalidDecisionError } from '../errors/invalid-decision-error.js';
import { shown } from '../errors/shown.js';

/**
 * How many permits an endpoint asks for.
 *
 * @throws InvalidDecisionError - where its function returns what is no number of permits.
 */
export async function permitsOf(
  { endpoint, permitCount }: Acquisition,
  context: RateLimitingContext,
): Promise<number> {
  if (typeof permitCount === 'number') return permitCount;
  const permits: unknown = await permitCount(context);
  if (isCount(permits)) return permits;
  throw new InvalidDecisionError(
    `${endpoint}: permitCount must return an integer of at least 0, but returned ${shown(permits)}.`,
  );
}
