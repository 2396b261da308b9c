import { show, throwCollected, typeError } from '../errors.js';
import type { PartitionContext, RateLimitPartition } from '../partitioned/rate-limit-partition.js';
import { isRateLimiter } from '../rate-limiter.js';
import type { RateLimiter } from '../rate-limiter.js';
import { ManagedLifetimeLimiter } from './managed-lifetime-limiter.js';

const NAME = 'getManagedLifetimeLimiter';

/** Makes the limiter of a partition, or says as another partition how it is made. */
export type ManagedLifetimeFactory<TKey> = (
  key: TKey,
  context?: PartitionContext,
) => RateLimiter | RateLimitPartition<TKey>;

/** Takes over the lifetime of a limiter: sees to it that it is disposed when its owner ends. */
export type LifetimeRegistrar<TKey> = (limiter: ManagedLifetimeLimiter, key: TKey) => void;

/** A partition whose limiter lives exactly as long as its owner wants. */
class ManagedLifetimePartition<TKey> implements RateLimitPartition<TKey, ManagedLifetimeLimiter> {
  readonly partitionKey: TKey;
  readonly #factory: ManagedLifetimeFactory<TKey>;
  readonly #registrar: LifetimeRegistrar<TKey>;

  constructor(partitionKey: TKey, factory: ManagedLifetimeFactory<TKey>, registrar: LifetimeRegistrar<TKey>) {
    this.partitionKey = partitionKey;
    this.#factory = factory;
    this.#registrar = registrar;
  }

  readonly factory = (key: TKey, context?: PartitionContext): ManagedLifetimeLimiter => {
    const limiter = new ManagedLifetimeLimiter(this.#make(key, context));
    try {
      this.#registrar(limiter, key);
    } catch (error) {
      disposeAfter(limiter, error);
    }
    return limiter;
  };

  /** Only where the factory says it as a partition: that one knows how. */
  refresh(limiter: ManagedLifetimeLimiter, key: TKey, context: PartitionContext): void {
    if (!madeOfPartitions.has(limiter.inner)) return;
    const made = this.#factory(key, context);
    if (isPartition<TKey>(made)) made.refresh?.(limiter.inner, key, context);
    else disposeAfter(made, changedMind(key));
  }

  #make(key: TKey, context: PartitionContext | undefined): RateLimiter {
    const made = this.#factory(key, context);
    const isFromPartition = isPartition<TKey>(made);
    const limiter = isFromPartition ? made.factory(key, context) : made;
    if (!isRateLimiter(limiter)) {
      throw typeError(
        'ERR_RL_INVALID_ARGUMENT',
        `The factory of ${NAME} must return a limiter or a partition, but for the key ${show(key)} it returned ${show(made)}.`,
      );
    }
    if (isFromPartition) madeOfPartitions.add(limiter);
    return limiter;
  }
}

/** The inner limiters that can be refreshed. */
const madeOfPartitions = new WeakSet<RateLimiter>();

function isPartition<TKey>(value: unknown): value is RateLimitPartition<TKey> {
  return typeof (value as Partial<RateLimitPartition<TKey>> | null)?.factory === 'function';
}

function changedMind(key: unknown): TypeError {
  return typeError(
    'ERR_RL_INVALID_ARGUMENT',
    `The factory of ${NAME} returned a partition for the key ${show(key)} at first, and a limiter when asked again.`,
  );
}

function disposeAfter(limiter: RateLimiter, error: unknown): never {
  const errors = [error];
  try {
    limiter.dispose();
  } catch (disposeError) {
    errors.unshift(disposeError);
  }
  throwCollected(errors, `A limiter of ${NAME} failed to end.`);
  throw error;
}

/**
 * Makes a partition whose limiter lives until whoever takes it over disposes it: a group of sessions, a
 * connection, a tenant. Until then it is never thrown away as idle; afterwards the next request of the key meets
 * a new one.
 *
 * @param key - names the partition.
 * @param factory - makes the limiter, or a partition that does; called once while the partition lives.
 * @param registrar - called once with the limiter, to take over its lifetime. When it throws, the limiter is
 * disposed and the error goes to the request.
 * @throws TypeError `ERR_RL_INVALID_ARGUMENT` - when one of the two isn't a function.
 */
export function getManagedLifetimeLimiter<TKey>(
  key: TKey,
  factory: ManagedLifetimeFactory<TKey>,
  registrar: LifetimeRegistrar<TKey>,
): RateLimitPartition<TKey, ManagedLifetimeLimiter> {
  for (const [name, value] of Object.entries({ factory, registrar })) {
    if (typeof value === 'function') continue;
    throw typeError(
      'ERR_RL_INVALID_ARGUMENT',
      `${NAME} needs a function as its ${name} for the key ${show(key)}, but got ${show(value)}.`,
    );
  }
  return new ManagedLifetimePartition(key, factory, registrar);
}
