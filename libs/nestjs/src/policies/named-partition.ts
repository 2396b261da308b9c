import type { AnyPartition } from '../context/handling-context.js';
import { isPromise } from './is-promise.js';
import type { PolicySource } from './compiled-policy.js';
import type { Partitioner } from './rate-limiter-policy.js';

/**
 * The key under which a partition offers the same partition with its state under a name: where states are kept
 * outside of the process, those of a policy are named after the policy.
 */
const namedPartition = Symbol.for('ratelease.named-partition');

interface Nameable {
  readonly [namedPartition]?: (name: string) => AnyPartition;
}

/** The source of a policy whose partitions bear the policy's name. */
export function namedAfter(name: string, source: PolicySource): PolicySource {
  if (!('partitioner' in source)) return source;
  const { partitioner } = source;
  const named: Partitioner = (context) => {
    const choice = partitioner(context);
    return isPromise(choice)
      ? Promise.resolve(choice).then((partition) => bearing(name, partition))
      : bearing(name, choice);
  };
  return { partitioner: named };
}

function bearing(name: string, partition: AnyPartition): AnyPartition {
  const offer = (partition as Nameable | null | undefined)?.[namedPartition];
  return typeof offer === 'function' ? offer.call(partition, name) : partition;
}
