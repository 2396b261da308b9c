import type { AsyncRateLimiter } from '../async-rate-limiter.js';
import { hasEnded, isEnded } from '../chained/chain-end.js';
import { partitionOf } from '../chained/chain-participant.js';
import { requireBoolean, requireClock, requireOptions } from '../checks.js';
import type { Clock } from '../clock.js';
import { decidesLike, waitsOtherwise } from '../engine/participants.js';
import { notALease, ObjectDisposedError, show, typeError } from '../errors.js';
import { BoundLimiter, partitionLimiterOf } from '../partitioned/bound-limiter.js';
import type { WaitLimits } from '../partitioned/partitioned-rate-limiter.js';
import { isPartitionedRateLimiter, PartitionedRateLimiter } from '../partitioned/partitioned-rate-limiter.js';
import { acquireWithTimeout } from '../queue/wait-limit.js';
import { RateLimitLease } from '../rate-limit-lease.js';
import type { RateLimiterStatistics } from '../rate-limiter-statistics.js';
import { LeaseOffer } from './lease-participants.js';
import { LinkedLimiter } from './linked-limiter.js';
import type { ShareableLeaseOwner } from './shareable-lease-owner.js';

/** Options of a {@link LinkedLeaseRateLimiter}. */
export interface LinkedLeaseRateLimiterOptions {
  /** `true`: the reference limiter is disposed together with the linked one. @defaultValue false */
  readonly disposeBaseLimiter?: boolean | undefined;
  /** What `maxWaitMs` is measured on for requests with a store. @defaultValue the monotonic clock of the process */
  readonly clock?: Clock | undefined;
}

/**
 * Limits long-lived objects instead of requests: an object needs permits of a reference limiter once, and all
 * its requests share them. A subclass says which object's store a resource belongs to; the store answers. A
 * resource without one is answered by the reference limiter.
 *
 * @typeParam TResource - what requests are made for.
 */
export abstract class LinkedLeaseRateLimiter<TResource> extends PartitionedRateLimiter<TResource> {
  readonly #base: PartitionedRateLimiter<TResource>;
  readonly #disposesBase: boolean;
  readonly #clock: Clock;
  #isDisposed = false;

  /**
   * @param baseLimiter - the reference limiter.
   * @throws TypeError `ERR_RL_INVALID_ARGUMENT` - when that isn't a partitioned limiter.
   * @throws TypeError `ERR_RL_INVALID_OPTION` - for options of the wrong type.
   */
  constructor(baseLimiter: PartitionedRateLimiter<TResource>, options: LinkedLeaseRateLimiterOptions = {}) {
    super();
    const name = this.constructor.name;
    if (!isPartitionedRateLimiter(baseLimiter)) {
      throw typeError(
        'ERR_RL_INVALID_ARGUMENT',
        `${name} needs a PartitionedRateLimiter as its base, but got ${show(baseLimiter)}.`,
      );
    }
    requireOptions(name, options);
    this.#base = baseLimiter;
    this.#disposesBase = requireBoolean(name, 'disposeBaseLimiter', options.disposeBaseLimiter, false);
    this.#clock = requireClock(name, options.clock);
  }

  /** Those of the reference limiter, for the partition of the resource. */
  override getStatistics(resource: TResource): RateLimiterStatistics | null {
    return this.#base.getStatistics(resource);
  }

  override refreshOptions(): void {
    this.#base.refreshOptions();
  }

  /** Ends the limiter; the stores live on, and the reference limiter too unless it is owned. */
  override dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    if (this.#disposesBase) this.#base.dispose();
  }

  /** @internal Ended itself, or its base is a chain that has ended. */
  get [hasEnded](): boolean {
    return this.#isDisposed || isEnded(this.#base);
  }

  /** What stands for the resource in a chain. */
  [partitionOf](resource: TResource): AsyncRateLimiter | RateLimitLease {
    this.assertUsable();
    if (!decidesLike(this, LinkedLeaseRateLimiter.prototype)) return new BoundLimiter(this, resource);
    const store = this.#storeOf(resource);
    if (store === null) return partitionLimiterOf(this.#base, resource);
    const offer = new LeaseOffer(store, this.#base, resource);
    const participants = offer.participants();
    if (participants instanceof RateLimitLease) return participants;
    return new LinkedLimiter({ store, base: this.#base, resource, offer });
  }

  /**
   * Which long-lived object's store answers for a resource; called once per acquisition.
   * @returns `null` where the resource belongs to none.
   */
  protected abstract getLeaseStore(resource: TResource): ShareableLeaseOwner<TResource> | null;

  protected override assertUsable(): void {
    if (this.#isDisposed) throw new ObjectDisposedError(this.constructor.name);
  }

  protected override attemptAcquireCore(resource: TResource, permitCount: number): RateLimitLease {
    const store = this.#storeOf(resource);
    if (store === null) return this.#base.attemptAcquire(resource, permitCount);
    return requireLease(store, store.acquireLease(this.#base, resource, permitCount));
  }

  protected override async acquireCore(
    resource: TResource,
    permitCount: number,
    signal?: AbortSignal,
  ): Promise<RateLimitLease> {
    return this.#acquire(resource, permitCount, { maxWaitMs: Infinity, signal });
  }

  protected override async acquireWithin(
    resource: TResource,
    permitCount: number,
    wait: WaitLimits,
  ): Promise<RateLimitLease> {
    if (waitsOtherwise(this, LinkedLeaseRateLimiter.prototype))
      return super.acquireWithin(resource, permitCount, wait);
    return this.#acquire(resource, permitCount, wait);
  }

  async #acquire(resource: TResource, permitCount: number, wait: WaitLimits): Promise<RateLimitLease> {
    const store = this.#storeOf(resource);
    if (store === null) return this.#base.acquire(resource, permitCount, wait);
    const acquire = async (signal: AbortSignal | undefined): Promise<RateLimitLease> =>
      requireLease(store, await store.acquireLeaseAsync(this.#base, resource, permitCount, signal));
    if (wait.maxWaitMs === Infinity) return acquire(wait.signal);
    return acquireWithTimeout(acquire, wait.maxWaitMs, wait.signal, this.#clock);
  }

  #storeOf(resource: TResource): ShareableLeaseOwner<TResource> | null {
    const store: unknown = this.getLeaseStore(resource);
    if (store === null || store === undefined) return null;
    if (typeof (store as Partial<ShareableLeaseOwner<TResource>>).acquireLease === 'function')
      return store as ShareableLeaseOwner<TResource>;
    throw typeError(
      'ERR_RL_INVALID_ARGUMENT',
      `${this.constructor.name}.getLeaseStore must return a ShareableLeaseOwner or null, but for the resource ` +
        `${show(resource)} it returned ${show(store)}.`,
    );
  }
}

function requireLease(store: object, lease: unknown): RateLimitLease {
  if (lease instanceof RateLimitLease) return lease;
  throw notALease(`The store ${show(store)}`, lease);
}
