import { createPartitionedRateLimiter, RateLimitPartition } from '../src/index.js';
import type { RateLimiter } from '../src/index.js';
import { FakeError } from './fakes.js';
import { buildOptions } from './limiter-options.js';
import type { Encoded, LimiterDefinition } from './scenario.js';
import type { World } from './world.js';

/** Which partition a resource has; `*` stands for any other resource. */
interface PartitionRule {
  /** The key; without, the resource itself. */
  readonly key?: Encoded;
  /** The name in the counts of factory calls; without, the key as text. */
  readonly label?: string;
  readonly limiter: LimiterDefinition;
  /** `get`: made by the general helper, not by the one of its kind. */
  readonly via?: 'get';
  /** Always, or the first so many times. */
  readonly factoryThrows?: boolean | number;
  readonly partitionerThrows?: boolean;
}

/** Makes the limiter of a definition. */
type Build = (definition: LimiterDefinition, world: World) => object;

export interface PartitionedDefinition {
  readonly partitions: Readonly<Record<string, PartitionRule>>;
  readonly idleTimeoutMs?: Encoded;
  readonly maxPartitions?: Encoded;
  readonly keyIdentity?: 'lowerCase' | 'json';
}

const IDENTITIES = {
  lowerCase: (key: unknown) => String(key).toLowerCase(),
  json: (key: unknown) => JSON.stringify(key),
};

/** The helpers, whose options may be wrong on purpose. */
const HELPERS = new Map<string, (key: unknown, options: () => never) => RateLimitPartition<unknown>>([
  ['concurrency', RateLimitPartition.getConcurrencyLimiter],
  ['tokenBucket', RateLimitPartition.getTokenBucketLimiter],
  ['fixedWindow', RateLimitPartition.getFixedWindowLimiter],
  ['slidingWindow', RateLimitPartition.getSlidingWindowLimiter],
]);

/** Makes a partitioned limiter that counts the calls of its partitioner and factories. */
export function buildPartitioned(definition: PartitionedDefinition, world: World, build: Build): object {
  const rules = new Map(Object.entries(definition.partitions));
  const options: Record<string, unknown> = { clock: world.clock };
  if ('idleTimeoutMs' in definition) options['idleTimeoutMs'] = world.values.decode(definition.idleTimeoutMs);
  if ('maxPartitions' in definition) options['maxPartitions'] = world.values.decode(definition.maxPartitions);
  if (definition.keyIdentity !== undefined) options['keyIdentity'] = IDENTITIES[definition.keyIdentity];
  return createPartitionedRateLimiter((resource: unknown) => {
    world.partitionerCalls++;
    const rule = rules.get(String(resource)) ?? rules.get('*');
    if (rule === undefined) throw new Error(`No partition for ${String(resource)}.`);
    if (rule.partitionerThrows === true) throw new FakeError('partitioner threw');
    const key = 'key' in rule ? world.values.decode(rule.key) : resource;
    return partitionFor(rule, key, world, build);
  }, options);
}

function partitionFor(
  rule: PartitionRule,
  key: unknown,
  world: World,
  build: Build,
): RateLimitPartition<unknown> {
  const { limiter } = rule;
  if (limiter.type === 'noop') return RateLimitPartition.getNoLimiter(key);
  const label = rule.label ?? String(key);
  const helper = rule.via === 'get' ? undefined : HELPERS.get(limiter.type);
  if (helper !== undefined) {
    return helper(key, () => {
      countFactoryCall(rule, label, world);
      return buildOptions(limiter, world) as never;
    });
  }
  return RateLimitPartition.get(key, () => {
    countFactoryCall(rule, label, world);
    return build(limiter, world) as RateLimiter;
  });
}

function countFactoryCall(rule: PartitionRule, label: string, world: World): void {
  const calls = (world.factoryCalls.get(label) ?? 0) + 1;
  world.factoryCalls.set(label, calls);
  if (rule.factoryThrows === true || calls <= Number(rule.factoryThrows ?? 0))
    throw new FakeError('factory threw');
}
