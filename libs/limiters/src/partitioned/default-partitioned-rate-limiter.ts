import type { AsyncPartitionedRateLimiter, AsyncRateLimiter } from '../async-rate-limiter.js';
import { partitionOf } from '../chained/chain-participant.js';
import { optionalFunction, requireClock, requireDelay, requireInteger, requireOptions } from '../checks.js';
import type { Clock } from '../clock.js';
import { REASON, RefusedLease } from '../engine/refused-lease.js';
import { asyncOnly, ObjectDisposedError, show, typeError } from '../errors.js';
import { RateLimitLease } from '../rate-limit-lease.js';
import { isRateLimiter } from '../rate-limiter.js';
import type { RateLimiter } from '../rate-limiter.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import { Partition } from './partition.js';
import type { PartitionErrorHandler } from './partition-store.js';
import { PartitionStore } from './partition-store.js';
import type { WaitLimits } from './partitioned-rate-limiter.js';
import { PartitionedRateLimiter } from './partitioned-rate-limiter.js';
import type { RateLimitPartition } from './rate-limit-partition.js';

/** Options of {@link createPartitionedRateLimiter}. */
export interface PartitionedRateLimiterOptions<TKey> {
  /** What keys are compared by, for keys that aren't the same object each time. @defaultValue the key itself */
  readonly keyIdentity?: ((key: TKey) => unknown) | undefined;
  /** A partition idle for longer than these milliseconds (finite, at least 0) is thrown away. @defaultValue 10,000 */
  readonly idleTimeoutMs?: number | undefined;
  /** The most partitions at a time, an integer of at least 1; at the cap new keys are refused. @defaultValue no cap */
  readonly maxPartitions?: number | undefined;
  /** The source of time, lent to the limiters of the helpers. @defaultValue the monotonic clock of the process */
  readonly clock?: Clock | undefined;
  /** Told of errors that nobody awaits: a limiter that fails to replenish or to end. @defaultValue they are dropped */
  readonly onError?: PartitionErrorHandler | undefined;
}

/** Says which partition a resource belongs to; called once per request. */
export type Partitioner<TResource, TKey, TLimiter extends AsyncRateLimiter = RateLimiter> = (
  resource: TResource,
) => RateLimitPartition<TKey, TLimiter>;

const NAME = 'PartitionedRateLimiter';

/** The partitioned limiter of {@link createPartitionedRateLimiter}. */
export class DefaultPartitionedRateLimiter<TResource, TKey> extends PartitionedRateLimiter<TResource> {
  readonly #partitioner: Partitioner<TResource, TKey, AsyncRateLimiter>;
  readonly #keyIdentity: ((key: TKey) => unknown) | undefined;
  readonly #store: PartitionStore<TKey>;
  readonly #clock: Clock;
  readonly #onError: PartitionErrorHandler | undefined;
  #optionsGeneration = 0;
  #isDisposed = false;

  constructor(
    partitioner: Partitioner<TResource, TKey, AsyncRateLimiter>,
    options: PartitionedRateLimiterOptions<TKey> = {},
  ) {
    super();
    if (typeof partitioner !== 'function') {
      throw typeError(
        'ERR_RL_INVALID_ARGUMENT',
        `The partitioner must be a function, but got ${show(partitioner)}.`,
      );
    }
    requireOptions(NAME, options);
    const { idleTimeoutMs = 10_000, maxPartitions } = options;
    this.#partitioner = partitioner;
    this.#keyIdentity = optionalFunction(NAME, 'keyIdentity', options.keyIdentity);
    this.#onError = optionalFunction(NAME, 'onError', options.onError);
    this.#clock = requireClock(NAME, options.clock);
    this.#store = new PartitionStore({
      clock: this.#clock,
      idleTimeoutMs: requireDelay(NAME, 'idleTimeoutMs', idleTimeoutMs, 'finite'),
      maxPartitions:
        maxPartitions === undefined ? Infinity : requireInteger(NAME, 'maxPartitions', maxPartitions, 1),
      onError: this.#onError,
    });
  }

  /** How many partitions live at present. */
  get partitionCount(): number {
    return this.#store.size;
  }

  override getStatistics(resource: TResource): RateLimiterStatistics | null {
    if (this.#isDisposed) return null;
    const limiter = this[partitionOf](resource);
    return limiter instanceof RateLimitLease ? null : limiter.getStatistics();
  }

  override refreshOptions(): void {
    this.#optionsGeneration++;
    for (const partition of this.#store.values()) {
      if (partition.declared !== null && partition.hasWaiters) this.#refresh(partition);
    }
  }

  override dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#store.dispose();
  }

  /** The limiter of the resource's partition, made where there is none, or the refusal to have one more. */
  [partitionOf](resource: TResource): AsyncRateLimiter | RateLimitLease {
    const declared = this.#partitioner(resource);
    if (typeof declared?.factory !== 'function') {
      throw typeError(
        'ERR_RL_INVALID_ARGUMENT',
        `The partitioner must return a partition, as RateLimitPartition.get… make them, but got ${show(declared)}.`,
      );
    }
    const key = declared.partitionKey;
    const identity = this.#keyIdentity === undefined ? key : this.#keyIdentity(key);
    const partition = this.#store.get(identity) ?? this.#create(declared, identity);
    if (partition === null) return new RefusedLease(REASON.partitionLimitReached);
    partition.declared = declared;
    if (partition.optionsGeneration !== this.#optionsGeneration) this.#refresh(partition);
    this.#store.replenish(partition);
    return partition.limiter;
  }

  protected override assertUsable(): void {
    if (this.#isDisposed) throw new ObjectDisposedError(NAME);
  }

  protected override attemptAcquireCore(resource: TResource, permitCount: number): RateLimitLease {
    const limiter = this[partitionOf](resource);
    if (limiter instanceof RateLimitLease) return limiter;
    if (isRateLimiter(limiter)) return limiter.attemptAcquire(permitCount);
    throw asyncOnly(limiter);
  }

  protected override async acquireCore(
    resource: TResource,
    permitCount: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease> {
    const limiter = this[partitionOf](resource);
    return limiter instanceof RateLimitLease ? limiter : limiter.acquire(permitCount, { signal });
  }

  protected override async acquireWithin(
    resource: TResource,
    permitCount: number,
    wait: WaitLimits,
  ): Promise<RateLimitLease> {
    const limiter = this[partitionOf](resource);
    return limiter instanceof RateLimitLease ? limiter : limiter.acquire(permitCount, wait);
  }

  #create(declared: RateLimitPartition<TKey, AsyncRateLimiter>, identity: unknown): Partition<TKey> | null {
    if (!this.#store.hasRoom()) return null;
    const limiter = declared.factory(declared.partitionKey, { clock: this.#clock });
    if (typeof limiter?.acquire !== 'function') {
      throw typeError(
        'ERR_RL_INVALID_ARGUMENT',
        `The factory of a partition must return a limiter, but for the key ${show(declared.partitionKey)} it returned ${show(limiter)}.`,
      );
    }
    const partition = new Partition<TKey>(declared, identity, limiter, this.#optionsGeneration);
    this.#store.add(partition);
    return partition;
  }

  #refresh(partition: Partition<TKey>): void {
    partition.optionsGeneration = this.#optionsGeneration;
    try {
      partition.refresh();
    } catch (error) {
      if (this.#onError === undefined) throw error;
      this.#onError(error, partition.key);
    }
  }
}

/**
 * Makes a limiter that keeps a limiter for each key. Limiters are made at the first use of their key and thrown
 * away when they have been idle for `idleTimeoutMs`: never while permits are out, somebody waits, or spent
 * permits aren't back yet.
 *
 * @param partitioner - says for each request which partition it belongs to and how its limiter is made.
 * @throws RangeError | TypeError `ERR_RL_INVALID_OPTION` - for options outside their range.
 */
export function createPartitionedRateLimiter<TResource, TKey>(
  partitioner: Partitioner<TResource, TKey>,
  options?: PartitionedRateLimiterOptions<TKey>,
): DefaultPartitionedRateLimiter<TResource, TKey>;
/** The same for partitions with limiters that can't answer at once: what comes out can't either. */
export function createPartitionedRateLimiter<TResource, TKey>(
  partitioner: Partitioner<TResource, TKey, AsyncRateLimiter>,
  options?: PartitionedRateLimiterOptions<TKey>,
): AsyncPartitionedRateLimiter<TResource>;
export function createPartitionedRateLimiter<TResource, TKey>(
  partitioner: Partitioner<TResource, TKey, AsyncRateLimiter>,
  options?: PartitionedRateLimiterOptions<TKey>,
): DefaultPartitionedRateLimiter<TResource, TKey> {
  return new DefaultPartitionedRateLimiter(partitioner, options);
}
