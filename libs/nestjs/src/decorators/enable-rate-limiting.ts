import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { shown } from '../errors/shown.js';
import { gated } from '../binding/method-gates.js';
import { CONNECTION_METHOD } from '../transports/gateway.js';
import type { PolicyClass, PolicyInstance } from '../policies/policy-definition.js';
import { isPolicy, isPolicyClass, isSelectivePolicy } from '../policies/policy-definition.js';
import type { PolicyName } from '../policies/policy-names.js';
import { assertEndpoint } from './decorated-place.js';
import { checkOptions } from './decorator-options.js';
import { ENABLE, leaveMark, markOf } from './marks.js';

/**
 * Where a limit is enforced. `'guard'`: before later guards, so that failed logins count. `'interceptor'`: after
 * all guards, so that the user is known. `'handler'`: after pipes, so that the validated arguments are known.
 */
export type EnforcementPhase = 'guard' | 'interceptor' | 'handler';

/** A policy of an endpoint: the name of a registered one, or an instance or a class as an unnamed policy. */
export type PolicyReference = PolicyName | PolicyInstance | PolicyClass;

/** How the policies of an endpoint are applied. */
export interface EndpointOptions {
  /** @defaultValue `'interceptor'` */
  readonly phase?: EnforcementPhase | undefined;
  /**
   * Permits that a request costs, an integer of at least 0; 0 asks without taking. Above a limit it is a refusal
   * without `Retry-After`. @defaultValue 1
   */
  readonly permitCount?: number | ((context: RateLimitingContext) => number | Promise<number>) | undefined;
  /** Whether the policies apply to a request; the global limiter does in any case. @defaultValue always */
  readonly when?: ((context: RateLimitingContext) => boolean | Promise<boolean>) | undefined;
  /** The longest wait for permits in milliseconds, at least 0. @defaultValue no limit but the queue's */
  readonly maxWaitMs?: number | undefined;
  /**
   * When held permits go back over HTTP. `'response'`: when the handler and the response have ended, so that downloads
   * and streams count as long as they run. `'handler'`: when the handler has ended, for limits on its work alone; what
   * the global limiter holds for the request goes back with them. @defaultValue `'response'`
   */
  readonly heldUntil?: 'response' | 'handler' | undefined;
}

/** Options of {@link EnableRateLimiting}. */
export interface EnableRateLimitingOptions extends EndpointOptions {
  /**
   * On a method: adds to the class's policies instead of replacing them. All are taken together then, with the
   * class's options where the method has none. @defaultValue false
   */
  readonly inherit?: boolean | undefined;
}

/** What the decorator leaves on a class or a method. */
export interface EnableMark {
  readonly policies: readonly PolicyReference[];
  readonly options: EnableRateLimitingOptions;
}

const KNOWN = ['phase', 'permitCount', 'when', 'maxWaitMs', 'heldUntil', 'inherit'];

/**
 * Limits the requests of a class or a method by policies: several are taken all-or-nothing. The method's replace
 * the class's, unless it inherits.
 *
 * @param policies - names of registered policies, or instances or classes as unnamed policies; at least one.
 * @throws RateLimitingConfigurationError `ERR_RL_INVALID_POLICY` - when one is nothing of that;
 * `ERR_RL_UNKNOWN_OPTION`, `ERR_RL_INVALID_OPTION` - for options that would do nothing; `ERR_RL_INVALID_ENDPOINT` -
 * when it stands on something else than a class or a method of instances.
 */
export function EnableRateLimiting(
  policies: PolicyReference | readonly PolicyReference[],
  options: EnableRateLimitingOptions = {},
): ClassDecorator & MethodDecorator {
  const place = '@EnableRateLimiting()';
  const mark: EnableMark = {
    policies: readReferences(place, policies),
    options: readOptions(place, options),
  };
  return (target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => {
    assertEndpoint(place, [target, key, descriptor]);
    // Here, so that it has its place for gates also where the class is frozen before any application is made of it.
    if (key === CONNECTION_METHOD && descriptor !== undefined) {
      descriptor.value = gated(descriptor.value as Parameters<typeof gated>[0]);
    }
    leaveMark(ENABLE, mark, [target, key, descriptor]);
  };
}

function readOptions(place: string, options: EnableRateLimitingOptions): EnableRateLimitingOptions {
  checkOptions(options, { decorator: place, behind: 'the policies', known: KNOWN });
  if (options.inherit === undefined || typeof options.inherit === 'boolean') return options;
  throw new RateLimitingConfigurationError(
    'ERR_RL_INVALID_OPTION',
    `${place}: inherit must be true or false, but got ${shown(options.inherit)}.`,
  );
}

/** Checks and lists the policies of an endpoint. */
export function readReferences(
  place: string,
  policies: PolicyReference | readonly PolicyReference[],
): readonly PolicyReference[] {
  const list = (
    Array.isArray(policies) ? [...(policies as readonly PolicyReference[])] : [policies]
  ) as PolicyReference[];
  const wrong = list.find((policy) => !isReference(policy));
  // Named twice, a policy still counts once.
  if (list.length > 0 && !list.some((policy) => !isReference(policy))) return [...new Set(list)];
  throw new RateLimitingConfigurationError(
    'ERR_RL_INVALID_POLICY',
    `${place} needs the name of a policy, a policy instance or a policy class, or a list of them, but got ` +
      `${list.length === 0 ? 'an empty list' : shown(wrong)}. For no limit at all use @DisableRateLimiting().`,
  );
}

function isReference(value: unknown): value is PolicyReference {
  return typeof value === 'string' || isPolicy(value) || isSelectivePolicy(value) || isPolicyClass(value);
}

/** The mark of a class (its own or inherited) or, where one is given, of its method. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function enableMarkOf(controller: Function, handler?: Function): EnableMark | undefined {
  return markOf(ENABLE, controller, handler) as EnableMark | undefined;
}
