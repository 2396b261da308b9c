import type { AsyncRateLimiter, PartitionContext, RateLimitPartition } from '@ratelease/limiters';
import { partitionKeyOf } from './keys/state-keys.js';
import type { AcquisitionContext } from './remote/acquisition-context.js';
import { renamed } from './remote/define-limiter.js';
import type { LimiterDefinition } from './remote/limiter-definition.js';
import { RemoteRateLimiter } from './remote/remote-rate-limiter.js';

/** The key under which a partition offers the same partition with its state under another name. */
const namedPartition = Symbol.for('ratelease.named-partition');
/** The key under which a partition says where its permits are counted. */
const store = Symbol.for('ratelease.store');

/** A partition whose limiter is shared. */
export class RedisPartition<TKey> implements RateLimitPartition<TKey, RemoteRateLimiter> {
  readonly partitionKey: TKey;
  readonly #context: AcquisitionContext;
  readonly #define: (key: TKey) => LimiterDefinition;
  readonly #name: string | undefined;

  constructor(
    context: AcquisitionContext,
    partitionKey: TKey,
    define: (key: TKey) => LimiterDefinition,
    // oxlint-disable-next-line max-params -- made by the partitions and by itself only
    name?: string,
  ) {
    this.#context = context;
    this.partitionKey = partitionKey;
    this.#define = define;
    this.#name = name;
  }

  /** Makes the limiter of the partition for this process; its state is the server's. */
  factory(key: TKey, context?: PartitionContext): RemoteRateLimiter {
    const partitionKey = partitionKeyOf(this.#context.states.store.prefix, key);
    return new RemoteRateLimiter(this.#context, partitionKey, this.#definition(key, context));
  }

  /** Asks for new numbers. What is spent stays spent where the limiter has a name of its own. */
  refresh(limiter: RemoteRateLimiter, key: TKey, context: PartitionContext): void {
    // What is in process stays there until it has been idle.
    if ((limiter as AsyncRateLimiter) instanceof RemoteRateLimiter)
      limiter.redefine(this.#definition(key, context));
  }

  #definition(key: TKey, context: PartitionContext | undefined): LimiterDefinition {
    let definition = this.#define(key);
    if (this.#name !== undefined) definition = renamed(definition, this.#name);
    if (context === undefined || !definition.usesDefaultClock) return definition;
    return { ...definition, clock: context.clock };
  }

  /** The Nest module says it in its log. */
  get [store](): string {
    return `in Redis (prefix ${JSON.stringify(this.#context.states.store.prefix)})`;
  }

  /** The Nest module names the state of a policy after the policy. */
  [namedPartition](name: string): RedisPartition<TKey> {
    return new RedisPartition(this.#context, this.partitionKey, this.#define, name);
  }
}
