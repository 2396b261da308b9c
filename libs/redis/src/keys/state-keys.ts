import { partitionPart } from './key-text.js';

/** The version of what is kept under the keys: processes of different versions don't meet. */
const FORMAT = 'v1';

/** The key of a partition: the states of all its limiters are one hash, and its tag keeps all its keys in one slot. */
export function partitionKeyOf(prefix: string, key: unknown): string {
  return `${prefix}:${FORMAT}:{${partitionPart(key)}}`;
}

/** The keys of the leases and waiters of a concurrency limiter. */
export function concurrencyKeys(partitionKey: string, name: string): string[] {
  return [`${partitionKey}:${name}leases`, `${partitionKey}:${name}queue`, `${partitionKey}:${name}alive`];
}

/** What the channels of the processes begin with. */
export function channelPrefix(prefix: string): string {
  return `${prefix}:${FORMAT}:channel:`;
}
