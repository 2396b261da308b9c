import type { AcquireOptions, AsyncPartitionedRateLimiter, AsyncRateLimiter } from '../async-rate-limiter.js';
import { hasEnded, isEnded } from '../chained/chain-end.js';
import { partitionOf } from '../chained/chain-participant.js';
import type { Instant } from '../chained/instant.js';
import { requireDelay, requirePermitCount } from '../checks.js';
import { decidesLike, waitsOtherwise } from '../engine/participants.js';
import { promised } from '../engine/promised.js';
import { ObjectDisposedError, show, typeError } from '../errors.js';
import { throwIfAborted } from '../queue/abort-subscription.js';
import { acquireWithTimeout } from '../queue/wait-limit.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import { BoundLimiter, partitionLimiterOf } from './bound-limiter.js';

/** How a translated limiter treats the one it translates for. */
export interface TranslationOptions {
  /** `true`: the inner limiter lives on when the translating one is disposed. @defaultValue false */
  readonly leaveOpen?: boolean | undefined;
}

/** What bounds a wait. */
export interface WaitLimits {
  /** Milliseconds, finite and at least 0. */
  readonly maxWaitMs: number;
  /** Ends the wait when it aborts. */
  readonly signal: AbortSignal | undefined;
}

/**
 * A limiter that keeps a limiter for each partition of its resources: a user, an address, a tenant. The public
 * methods check their arguments and then call the protected `...Core` ones.
 *
 * Override the protected methods, not the public ones: a chain goes to the partitions of this package's limiters
 * directly, and asks a subclass only where that has its own `attemptAcquireCore`, `acquireCore` or `acquireWithin`.
 *
 * @typeParam TResource - what requests are made for; the partitioner makes a key of it.
 */
export abstract class PartitionedRateLimiter<TResource>
  implements AsyncPartitionedRateLimiter<TResource>, Disposable
{
  /**
   * Asks the limiter of the resource's partition and never waits; see `RateLimiter.attemptAcquire`.
   *
   * @throws RangeError | TypeError - a count that is no integer of at least 0, or above the partition's limit.
   * @throws ObjectDisposedError - after {@link PartitionedRateLimiter.dispose}.
   * @throws whatever the partitioner or the partition's factory throws; nothing of it is remembered.
   */
  attemptAcquire(resource: TResource, permitCount: number = 1): RateLimitLease {
    const permits = requirePermitCount(permitCount);
    this.assertUsable();
    return this.attemptAcquireCore(resource, permits);
  }

  /** See {@link AsyncPartitionedRateLimiter.acquire}. */
  acquire(resource: TResource, permitCount: number = 1, options?: AcquireOptions): Promise<RateLimitLease> {
    try {
      const permits = requirePermitCount(permitCount);
      this.assertUsable();
      const signal = options?.signal;
      if (signal !== undefined) throwIfAborted(signal);
      const maxWaitMs = options?.maxWaitMs;
      if (maxWaitMs === undefined || maxWaitMs === Infinity)
        return promised(this.acquireCore(resource, permits, signal), this);
      requireDelay('acquire', 'maxWaitMs', maxWaitMs, 'or Infinity');
      return promised(this.acquireWithin(resource, permits, { maxWaitMs, signal }), this);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The counters of the resource's partition, which is made where there is none; `null` where it can't be. */
  abstract getStatistics(resource: TResource): RateLimiterStatistics | null;

  /** Every live partition asks its options factory again at its next use, and keeps what is spent. */
  refreshOptions(): void {
    // A limiter without options factories has nothing to ask.
  }

  /**
   * A limiter for other resources, each translated into one of this limiter's.
   *
   * @param keyAdapter - called once per request.
   */
  withTranslatedKey<TOuter>(
    keyAdapter: (resource: TOuter) => TResource,
    options?: TranslationOptions,
  ): PartitionedRateLimiter<TOuter> {
    return new TranslatingRateLimiter(this, keyAdapter, options?.leaveOpen ?? false);
  }

  /** Ends the limiter and its partitions: waiting requests resolve refused, later ones are errors. */
  dispose(): void {
    // A limiter without partitions has nothing to end.
  }

  /** The same as {@link PartitionedRateLimiter.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** The same as {@link PartitionedRateLimiter.dispose}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
  }

  /** Throws {@link ObjectDisposedError} after disposal; called before an aborted signal is looked at. */
  protected assertUsable(): void {
    // Only a limiter knows its end.
  }

  /** Decides now. */
  protected abstract attemptAcquireCore(resource: TResource, permitCount: number): RateLimitLease;

  /** Decides now or later; an abort must reject with the signal's reason and leave nothing behind. */
  protected abstract acquireCore(
    resource: TResource,
    permitCount: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease>;

  /** Decides within a time. The default aborts {@link PartitionedRateLimiter.acquireCore} when it is over. */
  protected acquireWithin(
    resource: TResource,
    permitCount: number,
    wait: WaitLimits,
  ): Promise<RateLimitLease> {
    return acquireWithTimeout(
      (own) => this.acquireCore(resource, permitCount, own),
      wait.maxWaitMs,
      wait.signal,
    );
  }
}

/**
 * The limiter of `withTranslatedKey`: another limiter, asked for other resources. It stands in this file because
 * it and its base class make each other.
 */
export class TranslatingRateLimiter<TOuter, TInner> extends PartitionedRateLimiter<TOuter> {
  readonly #inner: PartitionedRateLimiter<TInner>;
  readonly #keyAdapter: (resource: TOuter) => TInner;
  readonly #leaveOpen: boolean;
  #isDisposed = false;

  /** @throws TypeError `ERR_RL_INVALID_ARGUMENT` - when the key adapter isn't a function. */
  constructor(
    inner: PartitionedRateLimiter<TInner>,
    keyAdapter: (resource: TOuter) => TInner,
    leaveOpen: boolean,
  ) {
    super();
    if (typeof keyAdapter !== 'function') {
      throw typeError(
        'ERR_RL_INVALID_ARGUMENT',
        `The key adapter must be a function, but got ${show(keyAdapter)}.`,
      );
    }
    this.#inner = inner;
    this.#keyAdapter = keyAdapter;
    this.#leaveOpen = leaveOpen;
  }

  override getStatistics(resource: TOuter): RateLimiterStatistics | null {
    return this.#isDisposed ? null : this.#inner.getStatistics(this.#keyAdapter(resource));
  }

  override refreshOptions(): void {
    this.#inner.refreshOptions();
  }

  override dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    if (!this.#leaveOpen) this.#inner.dispose();
  }

  /** @internal Ended itself, or what it translates for is a chain that has ended. */
  get [hasEnded](): boolean {
    return this.#isDisposed || isEnded(this.#inner);
  }

  /** The limiter of the translated resource's partition. */
  [partitionOf](resource: TOuter, instant?: Instant): AsyncRateLimiter | RateLimitLease {
    this.assertUsable();
    if (!decidesLike(this, TranslatingRateLimiter.prototype)) return new BoundLimiter(this, resource);
    return partitionLimiterOf(this.#inner, this.#keyAdapter(resource), instant);
  }

  protected override assertUsable(): void {
    if (this.#isDisposed) throw new ObjectDisposedError('TranslatingRateLimiter');
  }

  protected override attemptAcquireCore(resource: TOuter, permitCount: number): RateLimitLease {
    return this.#inner.attemptAcquire(this.#keyAdapter(resource), permitCount);
  }

  protected override async acquireCore(
    resource: TOuter,
    permitCount: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease> {
    return this.#inner.acquire(this.#keyAdapter(resource), permitCount, { signal });
  }

  protected override async acquireWithin(
    resource: TOuter,
    permitCount: number,
    wait: WaitLimits,
  ): Promise<RateLimitLease> {
    if (waitsOtherwise(this, TranslatingRateLimiter.prototype))
      return super.acquireWithin(resource, permitCount, wait);
    return this.#inner.acquire(this.#keyAdapter(resource), permitCount, wait);
  }
}

const BRAND = Symbol.for('ratelease.partitioned-rate-limiter');
Object.defineProperty(PartitionedRateLimiter.prototype, BRAND, { value: true });

/** Whether a value is a partitioned limiter that can answer at once, also one of another loaded copy of this package. */
export function isPartitionedRateLimiter(value: unknown): value is PartitionedRateLimiter<unknown> {
  return typeof value === 'object' && value !== null && BRAND in value;
}
