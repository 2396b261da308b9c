import type { AsyncPartitionedRateLimiter } from '../async-rate-limiter.js';
import type { DerivedLease } from './derived-lease.js';

/** What a derived lease needs of the owner of its reference lease. */
export interface LeaseReleaser {
  /** A derived lease has ended. Called once for each, and not for those that end with the owner. */
  release(derivedLease: DerivedLease): void;

  /**
   * Asks to be told, once, when the owner ends; at once, where it has ended already.
   * @returns takes the wish back.
   */
  onDisposed(listener: () => void): () => void;
}

/**
 * The store of a long-lived object: it owns the leases of a reference limiter that the object needs, and gives
 * each request of the object a lease derived from them. {@link SingleShareableLeaseOwner} is the policy of one
 * lease per object; implement this interface for another.
 *
 * @typeParam TResource - what the reference limiter is asked with.
 */
export interface ShareableLeaseOwner<TResource> extends LeaseReleaser, Disposable {
  /**
   * Answers a request of the object now.
   *
   * @param baseLimiter - the reference limiter, to be asked where the owner has no lease yet.
   * @param permitCount - what the request asks for, an integer of at least 0.
   * @throws ObjectDisposedError - after {@link ShareableLeaseOwner.dispose}.
   */
  acquireLease(
    baseLimiter: AsyncPartitionedRateLimiter<TResource>,
    resource: TResource,
    permitCount: number,
  ): DerivedLease;

  /**
   * The same, and may wait.
   *
   * @param signal - not aborted yet; its abort must reject this request with its reason, and no other.
   */
  acquireLeaseAsync(
    baseLimiter: AsyncPartitionedRateLimiter<TResource>,
    resource: TResource,
    permitCount: number,
    signal?: AbortSignal,
  ): Promise<DerivedLease>;

  /** The long-lived object has ended: its leases go back, waiting requests resolve refused. */
  dispose(): void;
}
