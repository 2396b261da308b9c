import type { Clock } from '@ratelease/limiters';
import { checkKnown } from '../errors/check-known.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { suggestion } from '../errors/nearest-name.js';
import { shown } from '../errors/shown.js';
import type { KeyFunction, SpacedKeyFunction } from '../keys/key-function.js';
import { inOwnSpace, keyText } from '../keys/key-function.js';
import { keptKey } from '../keys/kept-key.js';
import { isPromise } from './is-promise.js';
import type { AlgorithmName, AlgorithmNumbers } from './limiter-numbers.js';
import { ALGORITHM_NAMES, optionsOf, partitionOf } from './limiter-numbers.js';
import { LiveNumbers } from './live-numbers.js';
import type { PartitionTraits } from './policy-traits.js';
import { readTraits, TRAIT_NAMES } from './policy-traits.js';
import type { Partitioner } from './rate-limiter-policy.js';

/**
 * A policy as an options object: an algorithm with its numbers, and whom requests count for.
 *
 * `key` is a key function, or a text for one counter that everybody shares. @defaultValue `'shared'`
 */
export type PolicyOptions = {
  readonly [Name in AlgorithmName]: AlgorithmNumbers[Name] &
    PartitionTraits & {
      /** How it is limited. */
      readonly algorithm: Name;
      /** Whom requests count for. */
      readonly key?: KeyFunction | string | undefined;
    };
}[AlgorithmName];

const SHARED = 'shared';

/** A checked options object: its partitioner, and what is known beforehand of its limiters. */
export interface PolicyFromOptions {
  readonly partitioner: Partitioner<string>;
  readonly mayWait: boolean;
  readonly holdsPermits: boolean;
  readonly traits: PartitionTraits;
  /** Takes new numbers for all limiters from now on; throws what is wrong with them. */
  readonly change: (changes: object) => void;
}

/**
 * Checks an options object and makes a partitioner of it.
 *
 * @param policy - the policy as messages call it, such as `Policy "burst"`.
 * @throws RateLimitingConfigurationError - for an unknown algorithm or option and for bad numbers.
 */
export function policyFromOptions(
  policy: string,
  options: PolicyOptions,
  clock: Clock | undefined,
): PolicyFromOptions {
  const {
    algorithm,
    key,
    headers: _headers,
    shadow: _shadow,
    rejectionStatusCode: _status,
    whenFailing: _whenFailing,
    maxPartitions: _maxPartitions,
    ...numbers
  } = options;
  checkAlgorithm(policy, algorithm);
  const known = [...optionsOf(algorithm), ...TRAIT_NAMES];
  checkKnown(`${policy}: ${algorithm} has no option`, numbers, known);
  const live = new LiveNumbers(policy, algorithm, numbers, clock);
  const keyOf = readKey(policy, key);
  const factory = (): object => live.current;
  const partition = (text: string): ReturnType<typeof partitionOf> =>
    partitionOf(algorithm, keptKey(text), factory);
  return {
    partitioner: (context) => {
      const text = keyOf(context);
      return (isPromise(text) ? Promise.resolve(text).then(partition) : partition(text)) as ReturnType<
        Partitioner<string>
      >;
    },
    mayWait: (numbers.queueLimit ?? 0) > 0,
    holdsPermits: algorithm === 'concurrency',
    traits: readTraits(policy, options),
    change: (changes) => live.change(changes),
  };
}

function checkAlgorithm(policy: string, algorithm: unknown): void {
  if (ALGORITHM_NAMES.includes(algorithm as AlgorithmName)) return;
  const way = typeof algorithm === 'string' ? ` ${suggestion(algorithm, ALGORITHM_NAMES, 'algorithms')}` : '';
  throw new RateLimitingConfigurationError(
    'ERR_RL_INVALID_OPTION',
    `${policy}: algorithm must be one of ${ALGORITHM_NAMES.join(', ')}, but got ${shown(algorithm)}.${way}`,
  );
}

function readKey(policy: string, key: unknown): SpacedKeyFunction {
  if (typeof key === 'function') return inOwnSpace(key as KeyFunction, policy);
  if (key === undefined) return () => SHARED;
  if (typeof key === 'string') {
    const text = keyText(key, policy);
    return () => text;
  }
  throw new RateLimitingConfigurationError(
    'ERR_RL_INVALID_OPTION',
    `${policy}: key must be a key function such as byClient(), or a text that everybody shares, but got ${shown(key)}.`,
  );
}
