import type { KeyFunction, KeyValue, SpacedKeyFunction } from './key-function.js';
import { isPromise } from '../policies/is-promise.js';
import { inOwnSpace, makesKeys, spaced } from './key-function.js';

/**
 * Counts by several keys together: `compositeKey(byUser(), byRoute())`. No choice of parts makes two different
 * combinations equal.
 *
 * @param parts - key functions, or constants.
 */
export function compositeKey(...parts: (KeyFunction | KeyValue)[]): SpacedKeyFunction {
  const functions = parts.map((part) =>
    inOwnSpace(typeof part === 'function' ? part : () => part, 'compositeKey()'),
  );
  return spaced((context) => {
    const keys = functions.map((part) => part(context));
    return keys.some(isPromise) ? Promise.all(keys).then(joined) : joined(keys as string[]);
  });
}
makesKeys(compositeKey);

/** JSON keeps the parts apart whatever they contain, which no separator does. */
function joined(keys: readonly string[]): string {
  return `all=${JSON.stringify(keys)}`;
}
