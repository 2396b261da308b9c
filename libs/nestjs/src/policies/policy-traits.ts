import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { shown } from '../errors/shown.js';

/** What every policy may say about its refusals, in an options object or as properties of a policy. */
export interface PolicyTraits {
  /**
   * `false`: the `RateLimit` fields don't mention the policy, on success and on refusal; `Retry-After` stays. For
   * limits whose remainder helps an attacker, such as those of logins. @defaultValue true
   */
  readonly headers?: boolean | undefined;
  /** `true`: the policy decides, counts and reports, but refuses nobody and lets nobody wait. @defaultValue false */
  readonly shadow?: boolean | undefined;
  /** The status of its refusals, 400 to 599. @defaultValue that of the module */
  readonly rejectionStatusCode?: number | undefined;
}

/** The names of the traits. */
export const TRAIT_NAMES = ['headers', 'shadow', 'rejectionStatusCode'] as const;

/**
 * Reads the traits of a policy.
 *
 * @throws RateLimitingConfigurationError `ERR_RL_INVALID_OPTION` - for one of a wrong type or out of range.
 */
export function readTraits(place: string, source: unknown): PolicyTraits {
  const { headers, shadow, rejectionStatusCode } = source as Record<keyof PolicyTraits, unknown>;
  for (const [name, value] of Object.entries({ headers, shadow })) {
    if (value !== undefined && typeof value !== 'boolean') throw invalid(place, name, 'true or false', value);
  }
  const status = rejectionStatusCode;
  if (status !== undefined && !(Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599)) {
    throw invalid(place, 'rejectionStatusCode', 'an integer from 400 to 599', status);
  }
  return { headers, shadow, rejectionStatusCode } as PolicyTraits;
}

function invalid(
  place: string,
  option: string,
  allowed: string,
  got: unknown,
): RateLimitingConfigurationError {
  return new RateLimitingConfigurationError(
    'ERR_RL_INVALID_OPTION',
    `${place}: ${option} must be ${allowed}, but got ${shown(got)}.`,
  );
}
