import type { AsyncPartitionedRateLimiter, AsyncRateLimiter } from '../async-rate-limiter.js';
import type { ChainParticipant } from '../chained/chain-participant.js';
import { participantsOf } from '../chained/chain-participant.js';
import { ObjectDisposedError } from '../errors.js';
import { partitionLimiterOf } from '../partitioned/bound-limiter.js';
import { RateLimitLease } from '../rate-limit-lease.js';
import { DerivedLease } from './derived-lease.js';
import { leaseParticipants } from './lease-participants.js';
import type { StoredLease } from './lease-storage.js';
import type { ShareableLeaseOwner } from './shareable-lease-owner.js';
import { SharedLease } from './shared-lease.js';
import { StoredParticipant } from './stored-participant.js';

/**
 * The owner of exactly one lease: one permit of the reference limiter carries all requests of a long-lived
 * object, whatever they ask for, from the first granted one to the object's end. First requests that come
 * together share one acquisition. A refusal goes to those who wait for it and is not remembered.
 *
 * A subclass says where the lease is kept. A stored lease has to stay until {@link SingleShareableLeaseOwner.dispose}.
 *
 * @typeParam TResource - what the reference limiter is asked with.
 */
export abstract class SingleShareableLeaseOwner<TResource> implements ShareableLeaseOwner<TResource> {
  readonly #shared: SharedLease;

  constructor() {
    this.#shared = new SharedLease({
      name: this.constructor.name,
      tryGetLease: () => this.tryGetLease(),
      trySetLease: (lease) => this.trySetLease(lease),
      makeDerived: (lease, permitCount) => this.makeDerived(lease, permitCount),
    });
  }

  /**
   * Answers now: from the stored lease, else by asking the reference limiter for one permit.
   *
   * @throws ObjectDisposedError - after {@link SingleShareableLeaseOwner.dispose}.
   * @throws TypeError `ERR_RL_ASYNC_ONLY` - when the reference limiter would have to be asked and can't answer at once.
   * @throws TypeError `ERR_RL_INVALID_ARGUMENT` - when the storage answers with something else than it should.
   */
  acquireLease(
    baseLimiter: AsyncPartitionedRateLimiter<TResource>,
    resource: TResource,
    permitCount: number,
  ): DerivedLease {
    return this.#shared.attempt(baseLimiter, resource, permitCount);
  }

  /** The same, but waits as the reference limiter does. Errors reject. */
  acquireLeaseAsync(
    baseLimiter: AsyncPartitionedRateLimiter<TResource>,
    resource: TResource,
    permitCount: number,
    signal?: AbortSignal,
  ): Promise<DerivedLease> {
    return this.#shared.acquire(baseLimiter, resource, { permitCount, signal });
  }

  /** Does nothing: the lease lives until the owner's end, whether a request of the object is under way or not. */
  release(_derivedLease: DerivedLease): void {
    // Another policy would count.
  }

  onDisposed(listener: () => void): () => void {
    return this.#shared.onDisposed(listener);
  }

  /**
   * Gives the lease back. Waiting requests resolve refused, with the reason `Owner disposed`; a grant that is
   * still on its way goes back. A second call does nothing.
   */
  dispose(): void {
    this.#shared.dispose();
  }

  /** The same as {@link SingleShareableLeaseOwner.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** What stands for the owner in a chain; `null` where the chain has to ask one member after the other. */
  [leaseParticipants](
    baseLimiter: AsyncPartitionedRateLimiter<TResource>,
    resource: TResource,
    resolve: () => AsyncRateLimiter | RateLimitLease = () => partitionLimiterOf(baseLimiter, resource),
  ): readonly ChainParticipant[] | RateLimitLease | null {
    if (this.isDisposed) throw new ObjectDisposedError(this.#shared.name);
    if (!answersLikeTheOriginal(this)) return null;
    const stored = this.#shared.storedAtFirst();
    if (stored !== undefined) return [new StoredParticipant(this.#shared, stored)];
    const limiter = resolve();
    if (limiter instanceof RateLimitLease) return limiter;
    const bases = participantsOf(limiter);
    return bases === null ? null : this.#shared.groups.groupFor(this.#shared, bases).participants;
  }

  /** Whether the owner has ended. */
  protected get isDisposed(): boolean {
    return this.#shared.isDisposed;
  }

  /** Whether the reference limiter has ever refused a request of the object, in a chain or alone. */
  protected get wasRefused(): boolean {
    return this.#shared.wasRefused;
  }

  /** The stored lease, or `undefined` where there is none. */
  protected abstract tryGetLease(): RateLimitLease | undefined;

  /**
   * Stores a granted lease, unless an earlier one is there.
   * @returns whether it was stored, and the lease to go on with: the earlier one wins.
   */
  protected abstract trySetLease(lease: RateLimitLease): StoredLease;

  /**
   * Makes the lease of a request.
   * @param lease - the stored lease, or a refused one.
   * @param permitCount - what the request asked for.
   */
  protected makeDerived(lease: RateLimitLease, permitCount: number): DerivedLease {
    return new DerivedLease(this, lease, permitCount);
  }
}

/** Whether no subclass has put answers of its own in the place of those that a chain would bypass. */
function answersLikeTheOriginal(owner: object): boolean {
  const own = owner as Record<string, unknown>;
  const original = SingleShareableLeaseOwner.prototype as unknown as Record<string, unknown>;
  return ['acquireLease', 'acquireLeaseAsync'].every((name) => own[name] === original[name]);
}
