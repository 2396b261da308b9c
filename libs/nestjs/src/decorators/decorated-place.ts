import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';

/** What a decorator of a class or a method is called with. */
export type Decorated = readonly [target: object, key?: string | symbol, descriptor?: PropertyDescriptor];

/**
 * Makes sure that a decorator stands where Nest finds it. It calls methods of instances; what stands elsewhere would be
 * silently without effect, and nobody knows of an instance's own properties before it is made.
 *
 * @throws RateLimitingConfigurationError `ERR_RL_INVALID_ENDPOINT` - elsewhere.
 */
export function assertEndpoint(decorator: string, [target, key, descriptor]: Decorated): void {
  if (key === undefined) return;
  const kind = kindOf(target, descriptor);
  if (kind === undefined) return;
  throw new RateLimitingConfigurationError(
    'ERR_RL_INVALID_ENDPOINT',
    `${decorator} stands on ${classOf(target)}.${String(key)}, which is ${kind}: Nest never calls it for a request. Put it on a ` +
      'method, or on the class.',
  );
}

/** What a decorated thing is, in words; `undefined` for a method of instances. */
function kindOf(target: object, descriptor: PropertyDescriptor | undefined): string | undefined {
  const isStatic = typeof target === 'function' ? 'static ' : '';
  if (typeof descriptor !== 'object') return `a ${isStatic}property`;
  if (descriptor.get !== undefined || descriptor.set !== undefined) return `a ${isStatic}getter or setter`;
  return isStatic === '' ? undefined : 'a static method';
}

function classOf(target: object): string {
  return typeof target === 'function' ? target.name : target.constructor.name;
}
