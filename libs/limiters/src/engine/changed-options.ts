import { requireOptions } from '../checks.js';
import { rangeError } from '../errors.js';
import type { LimiterKind } from './limiter-plan.js';

/**
 * The options with the changes in their place. A change that is `undefined` changes nothing.
 *
 * @param fixed - the options that only construction sets, with their defaults.
 * @throws RangeError `ERR_RL_INVALID_OPTION` - when one of these is to change, and for an unknown name.
 */
export function changedOptions<T extends object>(
  kind: LimiterKind<T>,
  options: T,
  changes: Partial<T>,
  fixed: Partial<T>,
): T {
  requireOptions(`${kind.name}.updateOptions`, changes);
  const changed = { ...options };
  for (const name of Object.keys(changes) as (keyof T & string)[]) {
    const value = changes[name];
    if (!kind.fields.includes(name)) throw unknown(kind, name);
    if (value === undefined || value === (options[name] ?? fixed[name])) continue;
    if (name in fixed) {
      throw rangeError(
        'ERR_RL_INVALID_OPTION',
        `${kind.name}: ${name} can't change while the limiter lives. Make a new limiter.`,
      );
    }
    changed[name] = value;
  }
  return changed;
}

function unknown<T extends object>(kind: LimiterKind<T>, name: string): RangeError {
  return rangeError(
    'ERR_RL_INVALID_OPTION',
    `${kind.name}: there is no option ${name} to change. There are: ${kind.fields.join(', ')}.`,
  );
}
