import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import { MissingKeyError } from '../errors/missing-key-error.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { shown } from '../errors/shown.js';
import { isPromise } from '../policies/is-promise.js';

/** What may be a key: text, or what has one unmistakable text. `1` and `'1'` are the same key. */
export type KeyValue = string | number | bigint | boolean;

/** Makes the key of a request: whom it counts for. It may be asynchronous. */
export type KeyFunction = (context: RateLimitingContext) => KeyValue | Promise<KeyValue>;

/** A key function whose keys name their space, such as `user=7`, so that they equal no key of another space. */
export type SpacedKeyFunction = (context: RateLimitingContext) => string | Promise<string>;

const SPACED = Symbol.for('ratelease.spaced-key');

/** Marks a key function as one whose keys name their space. */
export function spaced<T extends SpacedKeyFunction>(keyFunction: T): T {
  Object.defineProperty(keyFunction, SPACED, { value: true });
  return keyFunction;
}

const MAKER = Symbol.for('ratelease.key-maker');

/** Marks what makes key functions, and is none itself. By a brand: it may be another loaded copy's. */
export function makesKeys(maker: (...options: never[]) => SpacedKeyFunction): void {
  Object.defineProperty(maker, MAKER, { value: true });
}

/**
 * The same key function, with its keys in a space of their own where they don't name one.
 *
 * @throws RateLimitingConfigurationError `ERR_RL_INVALID_OPTION` - for `byClient` in place of `byClient()`, which would fail
 * each request.
 */
export function inOwnSpace(keyFunction: KeyFunction, owner: string): SpacedKeyFunction {
  if (MAKER in keyFunction) {
    throw new RateLimitingConfigurationError(
      'ERR_RL_INVALID_OPTION',
      `${owner}: ${keyFunction.name} makes key functions, and is none itself. Call it: ${keyFunction.name}().`,
    );
  }
  if (SPACED in keyFunction) return keyFunction as SpacedKeyFunction;
  const name = (value: KeyValue): string => `key=${keyText(value, owner)}`;
  return spaced((context) => {
    const value = keyFunction(context);
    return isPromise(value) ? Promise.resolve(value).then(name) : name(value);
  });
}

/**
 * The text of a key.
 *
 * @param owner - what made the key, for the message.
 * @throws MissingKeyError `ERR_RL_MISSING_KEY` - for `undefined`, `null`, `NaN`, objects and the like.
 */
export function keyText(value: unknown, owner: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && !Number.isNaN(value)) return String(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  throw new MissingKeyError(
    `${owner} made the key ${shown(value)}, but a key must be text, a number or a boolean. ` +
      'Return a key for every request; for strangers use byUser({ orElse: byClient() }) or a constant of your own.',
  );
}
