import {
  ConcurrencyLimiter,
  createChainedPartitionedRateLimiter,
  createChainedRateLimiter,
  FixedWindowRateLimiter,
  SlidingWindowRateLimiter,
  TokenBucketRateLimiter,
} from '../src/index.js';
import type { PartitionedRateLimiter, RateLimiter } from '../src/index.js';
import type { FakeScript } from './fakes.js';
import { FakeControl, FakeLimiter, FakePartitionedLimiter, FakeReplenishingLimiter } from './fakes.js';
import { buildPartitioned } from './partitioned-builder.js';
import type { PartitionedDefinition } from './partitioned-builder.js';
import { buildOptions } from './limiter-options.js';
import type { LimiterDefinition } from './scenario.js';
import type { World } from './world.js';

/** The constructors of the four limiters, whose options may be wrong on purpose. */
const BUILT_IN = new Map<string, new (options: never) => RateLimiter>([
  ['concurrency', ConcurrencyLimiter],
  ['tokenBucket', TokenBucketRateLimiter],
  ['fixedWindow', FixedWindowRateLimiter],
  ['slidingWindow', SlidingWindowRateLimiter],
]);

/** Makes the limiter of a definition, and notes its name. */
export function buildLimiter(definition: LimiterDefinition, world: World): object {
  const limiter = make(definition, world);
  if (definition.name !== undefined) world.named.set(definition.name, limiter);
  return limiter;
}

function make(definition: LimiterDefinition, world: World): object {
  const { type } = definition;
  const builtIn = BUILT_IN.get(type);
  if (builtIn !== undefined) return new builtIn(buildOptions(definition, world) as never);
  switch (type) {
    case 'fake':
    case 'fakePartitioned':
      return makeFake(definition, world);
    case 'chained':
      return createChainedRateLimiter(...(members(definition, world) as RateLimiter[]));
    case 'chainedPartitioned':
      return createChainedPartitionedRateLimiter(
        ...(members(definition, world) as PartitionedRateLimiter<unknown>[]),
      );
    case 'group':
      return { members: members(definition, world) };
    case 'partitioned':
      return buildPartitioned(definition.options as PartitionedDefinition, world, buildLimiter);
    case 'translated':
      return makeTranslated(definition, world);
    default:
      throw new Error(`Unknown type of limiter ${type}.`);
  }
}

function members(definition: LimiterDefinition, world: World): unknown[] {
  return (definition.limiters ?? []).map((member) => {
    if (member === null) return null;
    return 'ref' in member ? world.subject(member.ref) : buildLimiter(member, world);
  });
}

function makeFake(definition: LimiterDefinition, world: World): object {
  const script = (definition.options ?? {}) as FakeScript;
  const control = new FakeControl(world, definition.name ?? '?', script);
  let fake: object = new FakeLimiter(control);
  if (definition.type === 'fakePartitioned') fake = new FakePartitionedLimiter(world, control);
  else if (script.replenishing === true) fake = new FakeReplenishingLimiter(control);
  world.fakes.set(fake, control);
  return fake;
}

function makeTranslated(definition: LimiterDefinition, world: World): object {
  const { map = {}, leaveOpen } = definition.options as { map?: Record<string, string>; leaveOpen?: boolean };
  if (definition.inner === undefined) throw new Error('A translated limiter needs an inner one.');
  const inner = buildLimiter(definition.inner, world) as PartitionedRateLimiter<unknown>;
  const translate = (resource: string): string => {
    world.translations++;
    return map[resource] ?? resource;
  };
  return inner.withTranslatedKey(translate, { leaveOpen });
}
