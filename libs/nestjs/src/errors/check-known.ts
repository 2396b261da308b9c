import { suggestion } from './nearest-name.js';
import type { RateLimitingErrorCode } from './rate-limiting-configuration-error.js';
import { RateLimitingConfigurationError } from './rate-limiting-configuration-error.js';

/**
 * Makes sure that no option is misspelt: nobody would read it, and the limit that it asks for would silently be missing.
 *
 * @param problem - the message up to the option's name, such as `forRoot() got the unknown option`.
 * @throws RateLimitingConfigurationError - for a property that isn't known.
 */
export function checkKnown(
  problem: string,
  given: object,
  known: readonly string[],
  code: RateLimitingErrorCode = 'ERR_RL_UNKNOWN_OPTION',
): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new RateLimitingConfigurationError(
    code,
    `${problem} ${JSON.stringify(unknown)}. ${suggestion(unknown, known, 'options')}`,
  );
}
