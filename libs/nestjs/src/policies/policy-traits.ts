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
  /** What becomes of a request where the policy itself fails; see {@link WhenFailing}. @defaultValue that of the module */
  readonly whenFailing?: WhenFailing | undefined;
}

/**
 * What becomes of a request where asking for its permits fails: a partitioner, a key function, a condition or a
 * limiter throws, or a request has no key. `'deny'`: the error goes to the exception filters, and the handler doesn't
 * run. `'allow'`: the request is let through without the policy, and the log and the channel `ratelease:failed` tell.
 * An `HttpException` that such code throws is an answer and no failure.
 */
export type WhenFailing = 'deny' | 'allow';

/** What a policy that chooses partitions may say beside. */
export interface PartitionTraits extends PolicyTraits {
  /**
   * The most keys that may live at a time, an integer of at least 1; at the cap requests with new ones are refused,
   * and the log warns. Keys that are idle and have nothing spent make room. @defaultValue that of the module
   */
  readonly maxPartitions?: number | undefined;
}

/** The names of the traits. */
export const TRAIT_NAMES = [
  'headers',
  'shadow',
  'rejectionStatusCode',
  'whenFailing',
  'maxPartitions',
] as const;

/**
 * Reads the traits of a policy.
 *
 * @throws RateLimitingConfigurationError `ERR_RL_INVALID_OPTION` - for one of a wrong type or out of range.
 */
export function readTraits(place: string, source: unknown): PartitionTraits {
  const { headers, shadow, rejectionStatusCode, whenFailing, maxPartitions } = source as Record<
    keyof PartitionTraits,
    unknown
  >;
  for (const [name, value] of Object.entries({ headers, shadow })) {
    if (value !== undefined && typeof value !== 'boolean') throw invalid(place, name, 'true or false', value);
  }
  const status = rejectionStatusCode;
  if (status !== undefined && !(Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599)) {
    throw invalid(place, 'rejectionStatusCode', 'an integer from 400 to 599', status);
  }
  if (whenFailing !== undefined && !isWhenFailing(whenFailing)) {
    throw invalid(place, 'whenFailing', "'deny' or 'allow'", whenFailing);
  }
  if (maxPartitions !== undefined && !isPartitionCap(maxPartitions)) {
    throw invalid(place, 'maxPartitions', 'an integer of at least 1', maxPartitions);
  }
  return { headers, shadow, rejectionStatusCode, whenFailing, maxPartitions } as PartitionTraits;
}

/** Whether a value says what becomes of requests whose limit fails. */
export function isWhenFailing(value: unknown): value is WhenFailing {
  return value === 'deny' || value === 'allow';
}

function isPartitionCap(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
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
