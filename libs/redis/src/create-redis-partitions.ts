import type { RateLimitPartition } from '@ratelease/limiters';
import { otherCopies } from '@ratelease/limiters';
import {
  positiveInteger,
  positiveTime,
  requirePrefix,
  requireTime,
  requireWhenUnavailable,
} from './checks.js';
import { connectionOf } from './clients/connection-of.js';
import { shown, typeError } from './errors.js';
import type { AcquisitionContext } from './remote/acquisition-context.js';
import type { SharedDefaults } from './remote/define-limiter.js';
import {
  defineConcurrency,
  defineFixedWindow,
  defineSlidingWindow,
  defineTokenBucket,
} from './remote/define-limiter.js';
import type { LimiterDefinition } from './remote/limiter-definition.js';
import type {
  RedisConcurrencyLimiterOptions,
  RedisFixedWindowLimiterOptions,
  RedisSlidingWindowLimiterOptions,
  RedisTokenBucketLimiterOptions,
} from './remote/limiter-options.js';
import { ProcessStates } from './remote/process-states.js';
import type { RemoteRateLimiter } from './remote/remote-rate-limiter.js';
import { RedisPartition } from './redis-partition.js';
import type { RedisPartitionsOptions } from './redis-partitions-options.js';
import { Store } from './store/store.js';
import { WithoutStore } from './unavailable/without-store.js';

const OWNER = 'createRedisPartitions';
/** So many decisions about different limiters go in one call; a server does nothing else meanwhile. */
const GROUPS_PER_CALL = 64;

/**
 * Partitions whose limiters are shared by all processes that ask the same server with the same prefix. They go
 * wherever those of `RateLimitPartition` go: into `createPartitionedRateLimiter`, into policies of the Nest module.
 *
 * A state belongs to prefix, name and key. Keys are strings, numbers, bigints or booleans.
 */
export class RedisPartitions implements AsyncDisposable {
  readonly #context: AcquisitionContext;
  readonly #store: Store;
  readonly #defaults: SharedDefaults;
  #ended: Promise<void> | undefined = undefined;

  /** @internal */
  constructor(store: Store, defaults: SharedDefaults) {
    this.#store = store;
    this.#defaults = defaults;
    this.#context = { states: new ProcessStates(store), withoutStore: new WithoutStore(store.health) };
  }

  /** Whether the store answers; `false` from the first command without an answer to the first that has one again. */
  get isAvailable(): boolean {
    return this.#store.health.isAvailable;
  }

  /** A partition that limits how much runs at once, in all processes together. */
  getConcurrencyLimiter<TKey>(
    key: TKey,
    factory: (key: TKey) => RedisConcurrencyLimiterOptions,
  ): RateLimitPartition<TKey, RemoteRateLimiter> {
    return this.#partition(key, factory, defineConcurrency);
  }

  /** A partition with a bucket of tokens that all processes take from. */
  getTokenBucketLimiter<TKey>(
    key: TKey,
    factory: (key: TKey) => RedisTokenBucketLimiterOptions,
  ): RateLimitPartition<TKey, RemoteRateLimiter> {
    return this.#partition(key, factory, defineTokenBucket);
  }

  /** A partition whose windows begin with the first use of the key and lie end to end. */
  getFixedWindowLimiter<TKey>(
    key: TKey,
    factory: (key: TKey) => RedisFixedWindowLimiterOptions,
  ): RateLimitPartition<TKey, RemoteRateLimiter> {
    return this.#partition(key, factory, defineFixedWindow);
  }

  /** A partition whose window moves segment by segment. */
  getSlidingWindowLimiter<TKey>(
    key: TKey,
    factory: (key: TKey) => RedisSlidingWindowLimiterOptions,
  ): RateLimitPartition<TKey, RemoteRateLimiter> {
    return this.#partition(key, factory, defineSlidingWindow);
  }

  /**
   * Ends all waits, gives back all leases that this process holds, and what was granted to requests that were
   * aborted, and resolves once the server has been told, or could not be told at the first attempt or within
   * `commandTimeoutMs`. The client stays open.
   */
  dispose(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  /** The same as {@link RedisPartitions.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #end(): Promise<void> {
    const { states } = this.#context;
    await Promise.all([states.end(), this.#store.drain()]);
    // Answers that came meanwhile may have left leases to nobody.
    await states.end();
    this.#store.end();
  }

  #partition<TKey, TOptions extends object>(
    key: TKey,
    factory: (key: TKey) => TOptions,
    define: (options: TOptions, defaults: SharedDefaults) => LimiterDefinition,
  ): RateLimitPartition<TKey, RemoteRateLimiter> {
    if (typeof factory === 'function')
      return new RedisPartition(this.#context, key, (own) => define(factory(own), this.#defaults));
    throw typeError(
      'ERR_RL_INVALID_ARGUMENT',
      `A shared partition needs a function that returns options, but got ${shown(factory)}. Wrap them: () => ({ … }).`,
    );
  }
}

/**
 * The class in the other loaded copies of this package, which has to lead to the same partitions where it is injected.
 * @internal
 */
export function otherRedisPartitions(): readonly (typeof RedisPartitions)[] {
  return otherCopies('redis.RedisPartitions', RedisPartitions);
}

// From the moment when it is loaded, the others find this copy.
otherRedisPartitions();

/**
 * Makes partitions whose limiters are shared through Redis or Valkey.
 *
 * @throws TypeError | RangeError `ERR_RL_INVALID_OPTION` - without a client, and for options outside their range.
 */
export function createRedisPartitions(options: RedisPartitionsOptions): RedisPartitions {
  return buildRedisPartitions(options);
}

/**
 * The same, with the server's time in the hands of a test.
 * @internal
 */
export function buildRedisPartitions(options: RedisPartitionsOptions, now?: () => number): RedisPartitions {
  if (typeof options !== 'object' || options === null)
    throw typeError('ERR_RL_INVALID_OPTION', `${OWNER} needs an options object, but got ${shown(options)}.`);
  const { prefix = 'ratelease', commandTimeoutMs = 250, whenUnavailable = 'deny', instances = 1 } = options;
  const { refusalCacheMs = 0 } = options;
  requirePrefix(`${OWNER}: prefix`, prefix);
  const defaults = {
    commandTimeoutMs: positiveTime(`${OWNER}: commandTimeoutMs`, commandTimeoutMs),
    refusalCacheMs: requireTime(`${OWNER}: refusalCacheMs`, refusalCacheMs),
    whenUnavailable: requireWhenUnavailable(OWNER, whenUnavailable),
    instances: positiveInteger(`${OWNER}: instances`, instances, 1),
  };
  const connection = connectionOf(options.client);
  const groupsPerCall = connection.isCluster || options.batching === false ? 1 : GROUPS_PER_CALL;
  return new RedisPartitions(new Store({ connection, prefix, groupsPerCall, now }), defaults);
}
