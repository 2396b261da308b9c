import type { AsyncPartitionedRateLimiter, AsyncRateLimiter } from '../async-rate-limiter.js';
import { partitionOf } from '../chained/chain-participant.js';
import type { Instant } from '../chained/instant.js';
import { optionalFunction, requireClock, requireDelay, requireInteger, requireOptions } from '../checks.js';
import type { Clock } from '../clock.js';
import { decidesLike } from '../engine/participants.js';
import { ObjectDisposedError, show, typeError } from '../errors.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { RateLimiter } from '../rate-limiter.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import { BoundLimiter } from './bound-limiter.js';
import { ImmediatePartitionedRateLimiter } from './immediate-partitioned-rate-limiter.js';
import type { WaitLimits } from './partitioned-rate-limiter.js';
import type { RateLimitPartition } from './rate-limit-partition.js';
import type { Declared } from './table/partition-page.js';
import { PartitionTable } from './table/partition-table.js';
import { noPlace } from './table/row-limiter.js';
import { indexOf, NO_ROW } from './table/rows.js';
import type { PartitionErrorHandler } from './table/table-options.js';
import { reporter } from './table/table-options.js';

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
  /**
   * Told of errors that nobody awaits: a limiter that fails to replenish or to end. It gets the error and what the key
   * is compared by. What it throws itself, a timer throws. @defaultValue they are dropped
   */
  readonly onError?: PartitionErrorHandler | undefined;
}

/** Says which partition a resource belongs to; called once per request. */
export type Partitioner<TResource, TKey, TLimiter extends AsyncRateLimiter = RateLimiter> = (
  resource: TResource,
) => RateLimitPartition<TKey, TLimiter>;

const NAME = 'PartitionedRateLimiter';

/** The partitioned limiter of {@link createPartitionedRateLimiter}. */
export class DefaultPartitionedRateLimiter<
  TResource,
  TKey,
> extends ImmediatePartitionedRateLimiter<TResource> {
  readonly #partitioner: Partitioner<TResource, TKey, AsyncRateLimiter>;
  readonly #keyIdentity: ((key: TKey) => unknown) | undefined;
  readonly #table: PartitionTable;
  #isDisposed = false;

  /** @throws RangeError | TypeError - for options outside their range. */
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
    const clock = requireClock(NAME, options.clock);
    const onError = optionalFunction(NAME, 'onError', options.onError);
    this.#partitioner = partitioner;
    this.#keyIdentity = optionalFunction(NAME, 'keyIdentity', options.keyIdentity);
    this.#table = new PartitionTable({
      clock,
      idleTimeoutMs: requireDelay(NAME, 'idleTimeoutMs', idleTimeoutMs, 'finite'),
      maxPartitions:
        maxPartitions === undefined ? Infinity : requireInteger(NAME, 'maxPartitions', maxPartitions, [1]),
      onError: onError === undefined ? undefined : reporter(onError, clock),
    });
  }

  /** How many partitions live at present. */
  get partitionCount(): number {
    return this.#isDisposed ? 0 : this.#table.size;
  }

  override getStatistics(resource: TResource): RateLimiterStatistics | null {
    if (this.#isDisposed) return null;
    const row = this.#rowFor(this.#declare(resource), this.#table.read());
    return row === NO_ROW ? null : this.#table.page(row).statistics(indexOf(row));
  }

  override refreshOptions(): void {
    if (!this.#isDisposed) this.#table.refresh();
  }

  override dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#table.dispose();
  }

  /** The limiter of the resource's partition, made where there is none, or the refusal to have one more. */
  [partitionOf](resource: TResource, instant?: Instant): AsyncRateLimiter | RateLimitLease {
    this.assertUsable();
    if (!decidesLike(this, DefaultPartitionedRateLimiter.prototype)) return new BoundLimiter(this, resource);
    const declared = this.#declare(resource);
    return this.#table.limiterFor(declared, this.#identify(declared), instant) ?? noPlace();
  }

  /** @internal */
  protected override get original(): object {
    return DefaultPartitionedRateLimiter.prototype;
  }

  protected override assertUsable(): void {
    if (this.#isDisposed) throw new ObjectDisposedError(NAME);
  }

  protected override attemptAcquireCore(resource: TResource, permitCount: number): RateLimitLease {
    const table = this.#table;
    const now = table.read();
    const declared = this.#declare(resource);
    return table.attempt(declared, this.#identify(declared), permitCount, now) ?? noPlace();
  }

  /** @internal */
  protected override answer(
    resource: TResource,
    permitCount: number,
    wait: () => WaitLimits,
  ): RateLimitLease | Promise<RateLimitLease> {
    const declared = this.#declare(resource);
    const now = this.#table.read();
    const identity = this.#identify(declared);
    const row = this.#table.rowFor(declared, identity, now);
    if (row === NO_ROW) return noPlace();
    return this.#table.page(row).acquireOrWait(indexOf(row), declared, identity, permitCount, wait);
  }

  #declare(resource: TResource): Declared {
    const declared = this.#partitioner(resource);
    if (typeof declared?.factory === 'function') return declared as Declared;
    throw noPartition(declared);
  }

  /** What the key is compared by. */
  #identify(declared: Declared): unknown {
    const key = declared.partitionKey;
    return this.#keyIdentity === undefined ? key : this.#keyIdentity(key as TKey);
  }

  #rowFor(declared: Declared, now: number): number {
    return this.#table.rowFor(declared, this.#identify(declared), now);
  }
}

function noPartition(declared: unknown): Error {
  return typeError(
    'ERR_RL_INVALID_ARGUMENT',
    `The partitioner must return a partition, as RateLimitPartition.get… make them, but got ${show(declared)}.`,
  );
}

/**
 * Makes a limiter that keeps a limiter for each key. Limiters are made at the first use of their key and thrown
 * away when they have been idle for `idleTimeoutMs`: never while permits are out, somebody waits, or spent
 * permits aren't back yet. Those that don't replenish by themselves are replenished: before they are asked, while
 * somebody waits in them, and where nobody asks any more, so that they don't stay for ever.
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
