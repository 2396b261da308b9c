import type { PolicyReference } from './enable-rate-limiting.js';
import { readReferences } from './enable-rate-limiting.js';

const DISABLE = 'ratelease:disable';

/** What the decorator leaves: everything, or some policies. */
type DisableMark = true | readonly PolicyReference[];

/**
 * Takes every limit off a class or a method, the global limiter too, or, where policies are given, those only. It
 * wins over `@EnableRateLimiting()`, whichever stands nearer; a method of a disabled class can't be enabled again, and
 * the boot says so.
 *
 * @param policies - names of registered policies (`'global'` is the global limiter), or instances or classes.
 * @throws RateLimitingConfigurationError `ERR_RL_INVALID_POLICY` - when one is nothing of that.
 */
export function DisableRateLimiting(
  // Where names are declared, it isn't one of them.
  // oxlint-disable-next-line typescript/no-redundant-type-constituents
  ...policies: (PolicyReference | 'global')[]
): ClassDecorator & MethodDecorator {
  const mark: DisableMark = policies.length === 0 ? true : readReferences('@DisableRateLimiting()', policies);
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor) => {
    const place = (descriptor?.value as object | undefined) ?? target;
    const earlier = Reflect.getOwnMetadata(DISABLE, place) as DisableMark | undefined;
    Reflect.defineMetadata(DISABLE, together(earlier, mark), place);
  };
}

function together(one: DisableMark | undefined, other: DisableMark): DisableMark {
  if (one === undefined) return other;
  return one === true || other === true ? true : [...one, ...other];
}

/** Whether a class (itself or one that it extends) or a method is disabled altogether. */
export function isDisabled(target: object): boolean {
  return Reflect.getMetadata(DISABLE, target) === true;
}

/** The policies that are taken off a class (itself or one that it extends) or a method, one by one. */
export function disabledPoliciesOf(target: object): readonly PolicyReference[] {
  const mark = Reflect.getMetadata(DISABLE, target) as DisableMark | undefined;
  return mark === undefined || mark === true ? [] : mark;
}
