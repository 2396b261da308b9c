import type { Clock } from '@ratelease/limiters';
import { checkKnown } from '../errors/check-known.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { shown } from '../errors/shown.js';
import { isPromise } from '../policies/is-promise.js';
import { isClass } from '../policies/policy-definition.js';
import type { PolicyDefinition } from '../policies/policy-definition.js';
import type { OnRejected } from '../rejection/on-rejected.js';
import type { WhenFailing } from '../policies/policy-traits.js';
import { isWhenFailing } from '../policies/policy-traits.js';
import { RateLimiterOptions } from './rate-limiter-options.js';
import type { EndpointBinding, GlobalPhase } from './rate-limiting-module-options.js';

/** The module's options, checked and with their defaults. */
export interface Settings {
  readonly global: PolicyDefinition | undefined;
  readonly globalPhase: GlobalPhase | undefined;
  readonly policies: ReadonlyMap<string, PolicyDefinition>;
  readonly endpoints: readonly EndpointBinding[];
  readonly rejectionStatusCode: number;
  readonly onRejected: OnRejected | undefined;
  readonly bind: boolean;
  readonly clock: Clock | undefined;
  readonly ipv6SubnetPrefix: number;
  readonly maxQueuedRequests: number;
  readonly maxHoldMs: number | undefined;
  readonly maxPartitions: number;
  readonly whenFailing: WhenFailing;
  readonly logKeys: 'hashed' | undefined;
  readonly legacyHeaders: boolean;
  readonly exposeHeaders: boolean;
  readonly problemDetails: boolean;
  readonly retryAfterJitter: number;
  readonly countPreflights: boolean;
  readonly enabled: boolean;
}

/** The options beside the policies. */
export const SETTING_NAMES = [
  'global',
  'globalPhase',
  'rejectionStatusCode',
  'onRejected',
  'endpoints',
  'bind',
  'clock',
  'ipv6SubnetPrefix',
  'maxQueuedRequests',
  'maxHoldMs',
  'maxPartitions',
  'whenFailing',
  'logKeys',
  'legacyHeaders',
  'exposeHeaders',
  'problemDetails',
  'retryAfterJitter',
  'countPreflights',
  'enabled',
] as const;
const KNOWN = [...SETTING_NAMES, 'policies'];
/** Only `forRoot()` itself can import modules: what a factory returns comes too late for that. */
const KNOWN_TO_ROOT = [...KNOWN, 'imports'];

/**
 * Checks what a user gave as options.
 *
 * @param place - where they come from, for messages.
 * @param isRoot - whether they were given to `forRoot()` itself.
 * @throws RateLimitingConfigurationError - for what is none, unknown or out of range.
 */
export function readSettings(place: string, given: unknown, isRoot = true): Settings {
  return checked(place, readOptions(place, given, isRoot ? KNOWN_TO_ROOT : KNOWN));
}

/** What a user gave as an options object or as a callback. */
export function readOptions(
  place: string,
  given: unknown,
  known: readonly string[] = KNOWN_TO_ROOT,
): RateLimiterOptions {
  if (typeof given !== 'function') return fromObject(place, given, known);
  if (!isClass(given)) return configured(place, given as Configure);
  throw new RateLimitingConfigurationError(
    'ERR_RL_MISSING_OPTIONS',
    `${place} needs an options object or a configuration callback, but got the class ${given.name}. A class that makes options ` +
      'belongs into RateLimitingModule.forRootAsync({ useClass }).',
  );
}

type Configure = (options: RateLimiterOptions) => unknown;

function configured(place: string, configure: Configure): RateLimiterOptions {
  const options = new RateLimiterOptions();
  const result = configure(options);
  if (!isPromise(result)) return options;
  // Its error would be about options that nobody reads any more.
  Promise.resolve(result).catch(() => undefined);
  throw new RateLimitingConfigurationError(
    'ERR_RL_INVALID_OPTION',
    `${place}: the configuration callback returned a promise, but what it sets later would be lost. ` +
      'Make it synchronous, or use RateLimitingModule.forRootAsync() with an options object.',
  );
}

function fromObject(place: string, given: unknown, known: readonly string[]): RateLimiterOptions {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new RateLimitingConfigurationError(
      'ERR_RL_MISSING_OPTIONS',
      `${place} needs an options object or a configuration callback, but got ${shown(given)}.`,
    );
  }
  checkKnown(`${place} got the unknown option`, given, known);
  const options = new RateLimiterOptions();
  for (const property of SETTING_NAMES)
    Object.assign(options, { [property]: (given as RateLimiterOptions)[property] });
  for (const [name, policy] of policiesOf(place, given)) options.addPolicy(name, policy);
  return options;
}

function policiesOf(place: string, given: { policies?: unknown }): [string, PolicyDefinition][] {
  const { policies } = given;
  if (policies === undefined) return [];
  const isRecord =
    typeof policies === 'object' &&
    policies !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(policies) as object | null);
  if (isRecord) return Object.entries(policies as Record<string, PolicyDefinition>);
  throw new RateLimitingConfigurationError(
    'ERR_RL_INVALID_OPTION',
    `${place}: policies must be an object with a policy for each name, but got ${shown(policies)}.`,
  );
}

function checked(place: string, options: RateLimiterOptions): Settings {
  const {
    rejectionStatusCode = 429,
    ipv6SubnetPrefix = 64,
    maxQueuedRequests = 10_000,
    maxPartitions = 1_000_000,
    bind = true,
  } = options;
  checkInteger(place, 'rejectionStatusCode', rejectionStatusCode, [400, 599]);
  checkInteger(place, 'ipv6SubnetPrefix', ipv6SubnetPrefix, [32, 128]);
  checkInteger(place, 'maxQueuedRequests', maxQueuedRequests, [0, Number.MAX_SAFE_INTEGER]);
  checkInteger(place, 'maxPartitions', maxPartitions, [1, Number.MAX_SAFE_INTEGER]);
  checkThat(place, options, ['whenFailing', "'deny' or 'allow'"], isWhenFailing);
  checkThat(
    place,
    options,
    ['globalPhase', "'guard' or 'middleware', or nothing for the endpoint's phase"],
    (value) => value === 'guard' || value === 'middleware',
  );
  checkThat(place, options, ['maxHoldMs', 'a number of milliseconds above 0'], isDuration);
  for (const name of FLAGS) checkThat(place, options, [name, 'true or false'], isBoolean);
  checkThat(place, options, ['retryAfterJitter', 'a number from 0 to 1'], isShare);
  checkThat(place, options, ['logKeys', "'hashed', or nothing"], (value) => value === 'hashed');
  checkThat(place, options, ['onRejected', 'a function'], (value) => typeof value === 'function');
  checkThat(place, options, ['bind', 'true or false'], (value) => typeof value === 'boolean');
  checkThat(place, options, ['endpoints', 'a list'], Array.isArray);
  checkThat(place, options, ['clock', 'an object with the methods now and setTimer'], isClock);
  const { global, globalPhase, onRejected, clock, policies, endpoints = [], maxHoldMs, logKeys } = options;
  return {
    ...{ global, globalPhase, onRejected, clock, policies, endpoints, bind },
    ...{ rejectionStatusCode, ipv6SubnetPrefix, maxQueuedRequests, maxHoldMs, logKeys, maxPartitions },
    whenFailing: options.whenFailing ?? 'deny',
    ...styleOf(options),
  };
}

/** The switches, with their defaults. */
function styleOf({
  legacyHeaders = false,
  exposeHeaders = false,
  problemDetails = false,
  retryAfterJitter = 0,
  countPreflights = false,
  enabled = true,
}: RateLimiterOptions): Pick<Settings, (typeof FLAGS)[number] | 'retryAfterJitter'> {
  return { legacyHeaders, exposeHeaders, problemDetails, retryAfterJitter, countPreflights, enabled };
}

const FLAGS = ['legacyHeaders', 'exposeHeaders', 'problemDetails', 'countPreflights', 'enabled'] as const;

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && Number.isFinite(value);
}

function isClock(value: unknown): boolean {
  const clock = value as Partial<Clock> | null;
  return typeof clock?.now === 'function' && typeof clock.setTimer === 'function';
}

function checkInteger(
  place: string,
  option: string,
  value: unknown,
  [least, most]: readonly [number, number],
): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new RateLimitingConfigurationError(
    'ERR_RL_INVALID_OPTION',
    `${place}: ${option} must be an integer from ${least} to ${most}, but got ${shown(value)}.`,
  );
}

function checkThat(
  place: string,
  options: RateLimiterOptions,
  [option, allowed]: readonly [keyof RateLimiterOptions, string],
  isAllowed: (value: unknown) => boolean,
): void {
  const value: unknown = options[option];
  if (value === undefined || isAllowed(value)) return;
  throw new RateLimitingConfigurationError(
    'ERR_RL_INVALID_OPTION',
    `${place}: ${option} must be ${allowed}, but got ${shown(value)}.`,
  );
}
