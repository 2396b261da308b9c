import { methodPlaceOf } from '../endpoints/method-place.js';
import type { Decorated } from './decorated-place.js';
import { assertEndpoint } from './decorated-place.js';
import type { PolicyReference } from './enable-rate-limiting.js';
import { readReferences } from './enable-rate-limiting.js';
import { DISABLE, earlierMark, leaveMark, markOf } from './marks.js';

const NAME = '@DisableRateLimiting()';

/** What the decorator leaves: everything, or some policies. */
type DisableMark = true | readonly PolicyReference[];

/**
 * Takes every limit off a class or a method, the global limiter too, or, where policies are given, those only. It
 * wins over `@EnableRateLimiting()`, whichever stands nearer; a method of a disabled class can't be enabled again, and
 * the boot says so. What a disabled class inherits is disabled in it, and goes on being limited elsewhere.
 *
 * @param policies - names of registered policies (`'global'` is the global limiter), or instances or classes.
 * @throws RateLimitingConfigurationError `ERR_RL_INVALID_POLICY` - when one is nothing of that;
 * `ERR_RL_INVALID_ENDPOINT` - when it stands on something else than a class or a method of instances.
 */
export function DisableRateLimiting(
  // Where names are declared, it isn't one of them.
  // oxlint-disable-next-line typescript/no-redundant-type-constituents
  ...policies: (PolicyReference | 'global')[]
): ClassDecorator & MethodDecorator {
  const mark: DisableMark = policies.length === 0 ? true : readReferences(NAME, policies);
  return (...place: Decorated) => {
    assertEndpoint(NAME, place);
    const earlier = earlierMark(DISABLE, place) as DisableMark | undefined;
    leaveMark(DISABLE, together(earlier, mark), place);
  };
}

function together(one: DisableMark | undefined, other: DisableMark): DisableMark {
  if (one === undefined) return other;
  return one === true || other === true ? true : [...one, ...other];
}

/** Whether a class (itself or one that it extends) or, where one is given, its method is disabled altogether. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function isDisabled(controller: Function, handler?: Function): boolean {
  return markOf(DISABLE, controller, handler) === true;
}

/** The policies that are taken off a class (itself or one that it extends) or its method, one by one. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function disabledPoliciesOf(controller: Function, handler?: Function): readonly PolicyReference[] {
  const mark = markOf(DISABLE, controller, handler) as DisableMark | undefined;
  return mark === undefined || mark === true ? [] : mark;
}

/**
 * Whether a method comes from a class further up than the one that is disabled: then the later word is the heir's, and no
 * contradiction.
 */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function isDisabledByHeir(controller: Function, handler: Function): boolean {
  const owner = methodPlaceOf(controller, handler)?.owner;
  if (owner === undefined) return false;
  let heir: unknown = controller;
  while (typeof heir === 'function' && heir.prototype !== owner) {
    if (Reflect.hasOwnMetadata(DISABLE, heir)) return true;
    heir = Object.getPrototypeOf(heir);
  }
  return false;
}
