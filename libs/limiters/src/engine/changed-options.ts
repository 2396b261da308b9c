import { requireOptions } from '../checks.js';
import { rangeError } from '../errors.js';

/**
 * The options with the changes in their place. A change that is `undefined` changes nothing.
 *
 * @param fixed - the options that only construction sets.
 * @throws RangeError `ERR_RL_INVALID_OPTION` - when one of these is to change.
 */
export function changedOptions<T extends object>(
  owner: string,
  options: T,
  changes: Partial<T>,
  fixed: readonly (keyof T & string)[],
): T {
  requireOptions(`${owner}.updateOptions`, changes);
  const changed = { ...options };
  for (const name of Object.keys(changes) as (keyof T & string)[]) {
    const value = changes[name];
    if (value === undefined || value === options[name]) continue;
    if (fixed.includes(name)) {
      throw rangeError(
        'ERR_RL_INVALID_OPTION',
        `${owner}: ${name} can't change while the limiter lives. Make a new limiter.`,
      );
    }
    changed[name] = value;
  }
  return changed;
}
