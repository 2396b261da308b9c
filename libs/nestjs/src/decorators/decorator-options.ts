import { checkKnown } from '../errors/check-known.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { shown } from '../errors/shown.js';

/** The second argument of a decorator. */
export interface DecoratorOptions {
  readonly decorator: string;
  /** What its first argument is, in words. */
  readonly behind: string;
  readonly known: readonly string[];
}

/**
 * Makes sure that no option of a decorator is misspelt; their values are checked at the boot, where the endpoint is known.
 *
 * @throws RateLimitingConfigurationError `ERR_RL_INVALID_OPTION` - for what is no object; `ERR_RL_UNKNOWN_OPTION` - for a
 * property that nobody reads.
 */
export function checkOptions(options: unknown, { decorator, behind, known }: DecoratorOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new RateLimitingConfigurationError(
      'ERR_RL_INVALID_OPTION',
      `${decorator} takes an options object behind ${behind}, but got ${shown(options)}.`,
    );
  }
  checkKnown(`${decorator} got the unknown option`, options, known);
}
